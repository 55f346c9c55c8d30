import test from 'ava'
import { bytes, duration } from './units.ts'

const size = bytes({ min: '1B', max: '4GB' })
const time = duration({ min: '1ms', max: '3650d' })

test('units: a size is in powers of 1024, in capital and small letters', (t) => {
  const sizes = { '7B': 7, '64KB': 65_536, '32MB': 33_554_432, '1GB': 1_073_741_824, '1.5KB': 1536, '2 MB': 2_097_152 }
  for (const [text, expected] of Object.entries(sizes))
    for (const written of [text, text.toLowerCase(), text.replace('B', 'b')])
      t.is(size.parse(written), expected, written)
})

test('units: a duration is in milliseconds', (t) => {
  const times = { '500ms': 500, '30s': 30_000, '15m': 900_000, '1h': 3_600_000, '7d': 604_800_000, '1.5h': 5_400_000 }
  for (const [text, expected] of Object.entries(times)) t.is(time.parse(text), expected, text)
})

test('units: other texts are refused', (t) => {
  for (const text of ['', '5', '5 x', '-1s', '1e3s', '1H', '1S', 's', '1s2s', '5MB'])
    t.false(time.safeParse(text).success, text)
  for (const text of ['', '5', '-1MB', '1e3KB', '1TB', 'MB', '1K', '5s']) t.false(size.safeParse(text).success, text)
})

test('units: the bounds are within', (t) => {
  const within = duration({ min: '1s', max: '1m' })
  t.deepEqual(
    ['999ms', '1s', '60s', '1m', '60001ms'].map((text) => within.safeParse(text).success),
    [false, true, true, true, false],
  )
  const small = bytes({ min: '1KB', max: '1MB' })
  t.deepEqual(
    ['1023B', '1KB', '1024KB', '1MB', '1048577B'].map((text) => small.safeParse(text).success),
    [false, true, true, true, false],
  )
})
