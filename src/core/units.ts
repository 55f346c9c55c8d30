import { z } from 'zod'

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const DURATION_UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SIZE = /^(\d+(?:\.\d+)?)\s?(B|KB|MB|GB)$/i
const SIZE_UNITS_BYTES: Record<string, number> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** Creates a schema for a duration written `500ms`, `30s`, `15m`, `1h` or `7d`, within bounds; its output is milliseconds. */
export function duration({ min, max }: { min: string; max: string }) {
  const [minMs, maxMs] = [toMs(min), toMs(max)]
  return z.string().transform((text, ctx) => {
    const ms = toMs(text)
    if (ms !== undefined && ms >= (minMs ?? 0) && ms <= (maxMs ?? Number.POSITIVE_INFINITY)) return ms
    ctx.addIssue({
      code: 'custom',
      message: `expected a duration between ${min} and ${max} such as \`${min}\`, got \`${text}\``,
    })
    return z.NEVER
  })
}

/** Creates a schema for a size written `64KB`, `32MB` or `1GB` (powers of 1024), within bounds; its output is bytes. */
export function bytes({ min, max }: { min: string; max: string }) {
  const [minBytes, maxBytes] = [toBytes(min), toBytes(max)]
  return z.string().transform((text, ctx) => {
    const size = toBytes(text)
    if (size !== undefined && size >= (minBytes ?? 0) && size <= (maxBytes ?? Number.POSITIVE_INFINITY)) return size
    ctx.addIssue({
      code: 'custom',
      message: `expected a size between ${min} and ${max} such as \`${max}\`, got \`${text}\``,
    })
    return z.NEVER
  })
}

function toMs(text: string): number | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? []
  return amount === undefined || unit === undefined
    ? undefined
    : Math.round(Number(amount) * (DURATION_UNITS_MS[unit] ?? 1))
}

function toBytes(text: string): number | undefined {
  const [, amount, unit] = SIZE.exec(text) ?? []
  return amount === undefined || unit === undefined
    ? undefined
    : Math.round(Number(amount) * (SIZE_UNITS_BYTES[unit.toUpperCase()] ?? 1))
}
