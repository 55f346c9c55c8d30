import { isAlphanumericAt } from './characters.ts'
import { mod97 } from './check-digits.ts'
import type { Finding } from './finding.ts'

/** Lengths by country, from SWIFT's IBAN registry. */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29',
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28',
    'LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25',
    'QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
  ]
    .join(' ')
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)
const LETTER_OFFSET = 55

/** Returns the IBAN (ISO 13616) that begins at `start`, in one piece or in groups of four. */
export function ibanAt(text: string, start: number): Finding | undefined {
  const length = LENGTHS[text.slice(start, start + 2)]
  if (length === undefined) return undefined
  let compact = ''
  let at = start
  while (compact.length < length) {
    if (isAlphanumericAt(text, at)) compact += text[at]
    else if (text[at] !== ' ' || compact.length % 4 !== 0) return undefined
    at++
  }
  if (isAlphanumericAt(text, at)) return undefined
  return isIban(compact) ? { start, end: at, kind: 'iban' } : undefined
}

function isIban(compact: string): boolean {
  const rearranged = compact.slice(4) + compact.slice(0, 4)
  if (/[a-z]/.test(rearranged)) return false
  return mod97(rearranged.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - LETTER_OFFSET))) === 1
}
