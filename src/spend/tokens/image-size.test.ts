import test from 'ava'
import { imageTokens, pdfTokens, sizeOfBase64 } from './attachments.ts'
import { imageSizeOf } from './image-size.ts'

const OLD = { longEdge: 1568, tokens: 1568 }
const NEW = { longEdge: 2576, tokens: 4784 }

/** Builds a header of 40 bytes with these parts at these offsets. */
function header(parts: Readonly<Record<number, readonly number[] | string>>): Buffer {
  const bytes = Buffer.alloc(40)
  for (const [at, part] of Object.entries(parts)) Buffer.from(part as string).copy(bytes, Number(at)) // both are taken
  return bytes
}

const HEADERS: Readonly<Record<string, Buffer>> = {
  png: header({ 0: [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10], 12: 'IHDR', 16: [0, 0, 5, 0, 0, 0, 2, 0xd0] }),
  gif: header({ 0: 'GIF89a', 6: [0, 5, 0xd0, 2] }),
  'lossy webp': header({ 0: 'RIFF', 8: 'WEBPVP8 ', 23: [0x9d, 1, 0x2a, 0, 0x45, 0xd0, 0x42] }),
  'lossless webp': header({ 0: 'RIFF', 8: 'WEBPVP8L', 20: [0x2f, 0xff, 0xc4, 0xb3, 0] }),
  'extended webp': header({ 0: 'RIFF', 8: 'WEBPVP8X', 24: [0xff, 4, 0, 0xcf, 2, 0] }),
  jpeg: header({ 0: [0xff, 0xd8, 0xff, 0xe0, 0, 6, 1, 1, 1, 1], 10: [0xff, 0xff, 0xc2, 0, 17, 8, 2, 0xd0, 5, 0] }),
}

for (const [name, bytes] of Object.entries(HEADERS)) {
  test(`image size: read from the header of a ${name} file`, (t) => {
    t.deepEqual(imageSizeOf(bytes), { width: 1280, height: 720 })
    t.deepEqual(sizeOfBase64(Buffer.from(bytes.toString('base64').replaceAll('/', '\\/'))), {
      width: 1280,
      height: 720,
    })
  })

  test(`image size: a truncated ${name} file has none, or its own, and never throws`, (t) => {
    for (let length = 0; length < bytes.length; length++) {
      const size = imageSizeOf(bytes.subarray(0, length))
      t.true(size === undefined || size.width === 1280)
    }
  })
}

test('image size: other data has none', (t) => {
  t.is(imageSizeOf(Buffer.alloc(100, 'x')), undefined)
  t.is(imageSizeOf(Buffer.alloc(100)), undefined)
  t.is(imageSizeOf(Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(100, 0xff)])), undefined)
})

for (const [width, height, tokens] of [
  [256, 256, 100],
  [512, 512, 361],
  [768, 768, 784],
  [1024, 1024, 1369],
  [1280, 720, 1196],
] as const) {
  test(`image tokens: ${width} × ${height} pixels are ${tokens}`, (t) => {
    t.is(imageTokens({ width, height }, OLD), tokens)
  })
}

test('image tokens: a large image has the model’s maximum, and so has an unknown one', (t) => {
  t.is(imageTokens({ width: 8000, height: 8000 }, OLD), 1568)
  t.is(imageTokens({ width: 8000, height: 8000 }, NEW), 4784)
  t.is(imageTokens({ width: 8000, height: 280 }, OLD), 56 * 2)
  t.is(imageTokens(undefined, NEW), 4784)
  t.is(imageTokens(undefined, OLD), 1568)
})

test('pdf tokens: 3,000 for each marked page', (t) => {
  const pages = '<< /Type /Page /Parent 1 0 R >>\n'.repeat(3)
  t.is(pdfTokens(Buffer.from(Buffer.from(`%PDF-1.4\n<< /Type /Pages >>\n${pages}`).toString('base64'))), 9000)
})

test('pdf tokens: without marks a page is 50 KB, and there is at least one and at most 600', (t) => {
  const ofBytes = (bytes: number) => pdfTokens(Buffer.from(Buffer.alloc(bytes, 'x').toString('base64')))
  t.is(ofBytes(500_000), 30_000)
  t.is(ofBytes(10), 3000)
  t.is(ofBytes(0), 3000)
  t.is(ofBytes(40_000_000), 600 * 3000)
})
