/** Lengths of national numbers by country calling code (ITU-T E.164, national plans); the rest have 7 to 12 digits. */
const NATIONAL_LENGTHS: readonly (readonly [code: string, least: number, most: number])[] = [
  ...entries('1:10-10 7:10-10 20:8-10 27:9-9 30:10-10 31:9-9 32:8-9 33:9-9 34:9-9 36:8-9 39:8-11 40:9-9 41:9-9'),
  ...entries('43:7-13 44:9-10 45:8-8 46:7-10 47:8-8 48:9-9 49:7-12 51:8-9 52:10-10 53:6-8 54:10-11 55:10-11'),
  ...entries('56:9-9 57:8-10 58:10-10 60:7-10 61:9-9 62:8-12 63:8-10 64:8-10 65:8-8 66:8-9 81:9-10 82:8-11'),
  ...entries('84:9-10 86:10-11 90:10-10 91:10-10 92:9-10 93:9-9 94:9-9 95:7-10 98:10-10 212:9-9 213:8-9 216:8-8'),
  ...entries('233:9-9 234:8-10 254:9-9 255:9-9 256:9-9 351:9-9 352:6-9 353:7-9 354:7-7 358:6-11 359:8-9 370:8-8'),
  ...entries('371:8-8 372:7-8 380:9-9 381:8-9 385:8-9 386:8-8 420:9-9 421:9-9 852:8-8 886:8-9 961:7-8 962:8-9'),
  ...entries('965:8-8 966:9-9 971:8-9 972:8-9 974:8-8'),
]
const LEAST_DIGITS = 9
const MOST_DIGITS = 15

/** Layouts of national numbers, each with the first digits that its plan allows. */
const NATIONAL = new RegExp(
  [
    // North America: (NXX) NXX-XXXX and the like.
    String.raw`\(?[2-9]\d\d\)? [2-9]\d\d[-. ]\d{4}|\([2-9]\d\d\)[2-9]\d\d-\d{4}|[2-9]\d\d([-.])[2-9]\d\d\1\d{4}`,
    // United Kingdom: 020 7946 0958, 0161 496 0000, 07700 900123.
    String.raw`\(?02\d\)? \d{4} \d{4}|\(?01\d{2,3}\)? \d{3} \d{3,4}|07\d{3} ?\d{3} ?\d{3}`,
    // Germany and Austria: 030 1234567, 0171/1234567, 089 / 12 34 56 78.
    String.raw`\(?0[1-9]\d{1,4}\)?(?: ?\/ ?| - | )\d{2,3}(?: ?\d{2,4}){1,3}|0[1-9]\d{1,4}-\d{5,8}`,
    // France: 06 12 34 56 78 and 06.12.34.56.78; the Netherlands: 06-12345678.
    String.raw`0[1-9]([ .])\d\d\2\d\d\2\d\d\2\d\d|06-\d{8}`,
    // Switzerland: 079 123 45 67; Australia: 0412 345 678, (02) 9876 5432.
    String.raw`0\d\d \d{3} \d\d \d\d|04\d\d \d{3} \d{3}|\(0[2378]\) \d{4} \d{4}`,
    // Spain: 612 345 678, 612 34 56 78; Japan: 03-1234-5678, 090-1234-5678; Brazil: (11) 91234-5678.
    String.raw`[6789]\d\d (?:\d{3} \d{3}|\d\d \d\d \d\d)|0\d{1,3}-\d{2,4}-\d{4}|\(\d\d\) 9?\d{4}-\d{4}`,
    // India: 98765 43210.
    String.raw`[6-9]\d{4} \d{5}`,
  ].join('|'),
  'y',
)
/** Layouts that many other numbers have: a word about telephones must precede them. */
const AMBIGUOUS =
  /^\d{3} \d{3} \d{3}$|^[6-9]\d{4} \d{5}$|^\d{3} \d\d \d\d \d\d$|^0\d{1,3}-\d{2,4}-\d{4}$|^\d{3} \d{3}[ .]\d{4}$|^0(?!7\d{3} \d{6}$)[1-9]\d{1,4}[ -]\d/
const CONTEXT =
  /(?:phone|tel|mobile|cell|call(?: me)?|fax|whatsapp|sms|contact|handy|telefon|mobil|rufnummer|t[ée]l[ée]phone|portable|telefono|m[oó]vil|celular|telefoon|電話|手机|电话)\W{0,3}(?:(?:number|no|nr|num[eé]ro|is|at|on|unter|ist|:)\W{0,3}){0,2}$/i
const CONTEXT_CHARACTERS = 40
const IN_ONE_PIECE = /\d{9,12}/y

/** Tests for digits of a number in international form, without `+`. */
export function isInternational(digits: string): boolean {
  if (digits.length < LEAST_DIGITS || digits.length > MOST_DIGITS || digits.startsWith('0')) return false
  const plan = NATIONAL_LENGTHS.find(([code]) => digits.startsWith(code))
  if (plan === undefined) return digits.length >= 10 && /^[2-9]/.test(digits)
  const [code, least, most] = plan
  const length = digits.length - code.length
  if (code === '1' && !/^1[2-9]\d\d[2-9]/.test(digits)) return false
  return length >= least && length <= most
}

/** Returns the end of a number in a national layout that begins at `start`; -1 for none. */
export function nationalPhoneEnd(text: string, start: number): number {
  NATIONAL.lastIndex = start
  const written = NATIONAL.exec(text)?.[0]
  if (written !== undefined && (!AMBIGUOUS.test(written) || isAnnounced(text, start))) return start + written.length
  IN_ONE_PIECE.lastIndex = start
  if (IN_ONE_PIECE.test(text) && isAnnounced(text, start)) return IN_ONE_PIECE.lastIndex
  return -1
}

function isAnnounced(text: string, start: number): boolean {
  return CONTEXT.test(text.slice(Math.max(0, start - CONTEXT_CHARACTERS), start))
}

function entries(list: string): [string, number, number][] {
  return list.split(' ').map((entry) => {
    const [code = '', range = ''] = entry.split(':')
    const [least, most] = range.split('-')
    return [code, Number(least), Number(most)]
  })
}
