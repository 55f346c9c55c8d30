/** Numbers and addresses of persons by their published rules, and look-alikes that break one rule each. */
import type { Random } from '../loops/random.ts'
import { birthday, broken, digits, grouped, type Make, weighted, withLuhn } from './make-value.ts'
import type { Makers } from './secret-values.ts'

const cardDigits: readonly Make[] = [
  (random) => withLuhn(`4${digits(random, 14, '0123456789')}`),
  (random) => withLuhn(`5${random.int(1, 5)}${digits(random, 13, '0123456789')}`),
  (random) => withLuhn(`2${random.int(300, 699)}${digits(random, 11, '0123456789')}`),
  (random) => withLuhn(`6011${digits(random, 11, '0123456789')}`),
]
const amex: Make = (random) => withLuhn(`3${random.pick(['4', '7'])}${digits(random, 12, '0123456789')}`)

const card: Makers = {
  values: [
    ...cardDigits,
    ...cardDigits.map(
      (make): Make =>
        (random) =>
          grouped(make(random), [4], random.pick([' ', '-'])),
    ),
    amex,
    (random) => grouped(amex(random), [4, 6, 5], ' '),
  ],
  lookAlikes: [
    ...cardDigits.map(
      (make): Make =>
        (random) =>
          broken(random, make(random)),
    ),
    (random) => withLuhn(`9${digits(random, 14)}`),
    (random) => `17${digits(random, 11)}`,
    (random) => `0.${digits(random, 16)}`,
    (random) => `${digits(random, 12)}${random.hex(6)}f`,
    (random) => `17${digits(random, 17)}`,
  ],
}

const IBANS: readonly (readonly [country: string, bban: string])[] = [
  ['DE', 'n18'],
  ['FR', 'n10c11n2'],
  ['ES', 'n20'],
  ['IT', 'a1n10c12'],
  ['NL', 'a4n10'],
  ['GB', 'a4n14'],
  ['CH', 'n5c12'],
  ['AT', 'n16'],
  ['BE', 'n12'],
  ['PL', 'n24'],
  ['NO', 'n11'],
  ['SE', 'n20'],
  ['PT', 'n21'],
  ['IE', 'a4n14'],
]
const ALPHABETS: Readonly<Record<string, string>> = {
  n: '0123456789',
  a: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  c: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
}

const iban: Make = (random) => {
  const [country, layout] = random.pick(IBANS)
  const bban = [...layout.matchAll(/([nac])(\d+)/g)]
    .map(([, type = 'n', length]) =>
      Array.from({ length: Number(length) }, () => random.pick([...(ALPHABETS[type] ?? '')])).join(''),
    )
    .join('')
  const number = BigInt([...`${bban}${country}00`].map((character) => Number.parseInt(character, 36)).join(''))
  return `${country}${String(98n - (number % 97n)).padStart(2, '0')}${bban}`
}

const ibans: Makers = {
  values: [iban, (random) => grouped(iban(random), [4], ' ')],
  lookAlikes: [
    (random) => swapped(random, iban(random)),
    (random) => `ZQ${digits(random, 20)}`,
    (random) => `DE${digits(random, 12)}`,
    (random) => `GB${digits(random, 2)}`,
    (random) => `IT${digits(random, 4)}-${digits(random, 4)}`,
  ],
}

/** Changes one digit of the check digits. */
function swapped(random: Random, value: string): string {
  const digit = Number(value[3])
  return `${value.slice(0, 3)}${(digit + random.int(1, 9)) % 10}${value.slice(4)}`
}

const FIRST = [
  'anna',
  'j.smith',
  'maria-luisa',
  'wei.chen',
  'o_brien',
  'k.müller',
  'dev+news',
  'ivan1984',
  'sales.eu',
  'x',
]
const DOMAINS = [
  'acme.io',
  'contoso.com',
  'web.de',
  'mail.corp.co.uk',
  'gmail.com',
  'xn--mller-kva.de',
  'uni-köln.de',
  'a1.museum',
  'firma.ch',
  'orders.app',
]

const email: Makers = {
  values: [
    (random) => `${random.pick(FIRST)}@${random.pick(DOMAINS)}`,
    (random) => `${random.pick(FIRST)}${random.int(1, 99)}@${random.pick(DOMAINS)}`.toUpperCase().replace('Ü', 'ü'),
  ],
  lookAlikes: [
    () => 'user@example.com',
    (random) => `@${random.pick(['types/node', 'acme/core', 'media', 'override', 'Injectable()'])}`,
    (random) => `left-pad@${random.int(1, 9)}.${random.int(0, 20)}.${random.int(0, 9)}`,
    () => 'git@github.com:acme/app.git',
    () => 'icon@2x.png',
    () => 'root@localhost',
    () => 'meet @ 10.30',
    (random) => `a[${random.int(0, 9)}] @ b`,
  ],
}

const phone: Makers = {
  values: [
    (random) => `+1 ${digits(random, 3, '23456789')} ${digits(random, 3, '23456789')} ${digits(random, 4)}`,
    (random) => `(${digits(random, 3, '23456789')}) ${digits(random, 3, '23456789')}-${digits(random, 4)}`,
    (random) => `${digits(random, 3, '23456789')}-${digits(random, 3, '23456789')}-${digits(random, 4)}`,
    (random) => `+1${digits(random, 3, '23456789')}${digits(random, 7, '23456789')}`,
    (random) => `+44 20 7${digits(random, 3)} ${digits(random, 4)}`,
    (random) => `+4479${digits(random, 8)}`,
    (random) => `07${digits(random, 3)} ${digits(random, 6)}`,
    (random) => `+49 ${random.pick(['30', '89', '171', '221'])} ${digits(random, 7)}`,
    (random) => `0${random.pick(['30', '89', '171', '221'])}/${digits(random, 7)}`,
    (random) => `+33 6 ${grouped(digits(random, 8, '0123456789'), [2], ' ')}`,
    (random) => `06 ${grouped(digits(random, 8, '0123456789'), [2], ' ')}`,
    (random) => `+41 79 ${digits(random, 3)} ${digits(random, 2)} ${digits(random, 2)}`,
    (random) => `+91 9${digits(random, 4)} ${digits(random, 5)}`,
    (random) => `+81-3-${digits(random, 4)}-${digits(random, 4)}`,
    (random) => `+55 11 9${digits(random, 4)}-${digits(random, 4)}`,
    (random) => `+86 13${digits(random, 1)} ${digits(random, 4)} ${digits(random, 4)}`,
    (random) => `+34 6${digits(random, 8)}`,
    (random) => `+49 (0)${random.pick(['30', '89'])} ${digits(random, 7)}`,
  ],
  lookAlikes: [
    (random) => `2026-${random.int(10, 12)}-${random.int(10, 28)} ${random.int(10, 23)}:30:00`,
    (random) => `10.${random.int(1, 255)}.${random.int(1, 255)}.${random.int(1, 255)}`,
    (random) => `${random.int(1, 9)}.${random.int(10, 99)}.${random.int(100, 999)}`,
    (random) => `17${digits(random, 11)}`,
    (random) => `+${random.int(1, 99)} -${random.int(1, 99)}`,
    (random) => `${digits(random, 6)}-${random.hex(4)}-${digits(random, 4)}a`,
    (random) => `${digits(random, 3)},${digits(random, 3)},${digits(random, 3)}`,
    (random) => `#${digits(random, 6)}`,
    (random) => `+0${random.int(1, 9)}00`,
    (random) => `${digits(random, 4)} ${digits(random, 4)}`,
  ],
}

const luhnAt = (body: string): string => withLuhn(body)

/** National numbers, some with the word that must precede them. */
const ids: readonly Make[] = [
  (random) => `${random.int(100, 665)}-${random.int(10, 99)}-${digits(random, 4)}`,
  (random) => {
    const number = digits(random, 8)
    return number + ('TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23] ?? '')
  },
  (random) => {
    const rest = digits(random, 7, '0123456789')
    return `X${rest}${'TRWAGMYFPDXBNJZSQVHLCKE'[Number(rest) % 23] ?? ''}`
  },
  (random) => {
    const body = `${random.int(1, 2)}${birthday(random, 'ym')}${random.int(10, 95)}${digits(random, 6)}`
    return body + String(97n - (BigInt(body) % 97n)).padStart(2, '0')
  },
  (random) => {
    const body = `${birthday(random, 'ymd')}${digits(random, 3)}`
    const check = String(97 - (Number(body) % 97)).padStart(2, '0')
    return `${grouped(body.slice(0, 6), [2], '.')}-${body.slice(6)}.${check}`
  },
  (random) => {
    const ten = luhnAt(`${birthday(random, 'ymd')}${digits(random, 3)}`)
    return `${ten.slice(0, 6)}-${ten.slice(6)}`
  },
  (random) => {
    const day = birthday(random, 'dmy')
    const number = String(random.int(2, 899)).padStart(3, '0')
    return `${day}-${number}${'0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(day + number) % 31] ?? ''}`
  },
  (random) => {
    const nine = digits(random, 9)
    const first = ((weighted(nine, [10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10) % 11) % 10
    const second = ((weighted(`${nine}${first}`, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) * 10) % 11) % 10
    return `${grouped(nine, [3], '.')}-${first}${second}`
  },
  (random) => {
    const body = `110101${birthday(random, 'Ymd')}${digits(random, 3)}`
    return body + ('10X98765432'[weighted(body, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11] ?? '')
  },
  (random) => {
    const body = `756${digits(random, 9)}`
    const check = (10 - (weighted(body, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10)) % 10
    return grouped(body + check, [3, 4, 4, 2], '.')
  },
  (random) => `${random.pick(['AB', 'CE', 'JK', 'WM'])}${digits(random, 6)}${random.pick(['A', 'B', 'C', 'D'])}`,
]

const announced: readonly Make[] = [
  (random) => {
    const body = `${birthday(random, 'ymd')}${digits(random, 4)}`
    return `PESEL ${body}${(10 - (weighted(body, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10}`
  },
  (random) => `BSN: ${untilValid(random, 9, (id) => weighted(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0)}`,
  (random) => `TFN ${untilValid(random, 9, (id) => weighted(id, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0)}`,
  (random) => `SIN ${grouped(luhnAt(digits(random, 8, '1234567')), [3], ' ')}`,
]

function untilValid(random: Random, length: number, isValid: (id: string) => boolean): string {
  for (;;) {
    const id = digits(random, length)
    if (isValid(id)) return id
  }
}

const nationalId: Makers = {
  values: [...ids, ...announced],
  lookAlikes: [
    ...ids.slice(1, -1).map(
      (make): Make =>
        (random) =>
          broken(random, make(random)),
    ),
    (random) => `000-${random.int(10, 99)}-${digits(random, 4)}`,
    (random) => digits(random, 11),
    (random) => digits(random, 9),
    (random) => `BG${digits(random, 6)}A`,
    (random) => `${birthday(random, 'Ymd')}-${digits(random, 6)}`,
  ],
}

/** Makers by kind. */
export const PERSONS: Readonly<Record<string, Makers>> = { card, iban: ibans, email, phone, national_id: nationalId }
