/** Width and height of an image in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Bytes of a file that must contain its size; a photograph's follows its metadata. */
export const HEADER_BYTES = 48 * 1024

const PNG = 0x89504e47
const GIF = 0x47494638
const RIFF = 0x52494646
const WEBP = 0x57454250
const VP8 = 0x56503820
const VP8_LOSSLESS = 0x5650384c
const VP8_EXTENDED = 0x56503858
const JPEG_START = 0xffd8
const JPEG_MARKER = 0xff
const LONGEST_HEADER = 30

/** Reads the size from the first bytes of a PNG, GIF, WebP or JPEG file; `undefined` when they do not contain it. */
export function imageSizeOf(header: Buffer): ImageSize | undefined {
  if (header.length < LONGEST_HEADER) return undefined
  const size = readSize(header)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

function readSize(header: Buffer): ImageSize | undefined {
  if (header.readUInt16BE(0) === JPEG_START) return jpegSize(header)
  switch (header.readUInt32BE(0)) {
    case PNG:
      return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }
    case GIF:
      return { width: header.readUInt16LE(6), height: header.readUInt16LE(8) }
    case RIFF:
      return header.readUInt32BE(8) === WEBP ? webpSize(header) : undefined
    default:
      return undefined
  }
}

/** Reads one of a WebP file's three encodings of its size (RFC 9649, sections 2.5 to 2.7). */
function webpSize(header: Buffer): ImageSize | undefined {
  switch (header.readUInt32BE(12)) {
    case VP8:
      return { width: header.readUInt16LE(26) & 0x3fff, height: header.readUInt16LE(28) & 0x3fff }
    case VP8_LOSSLESS: {
      const bits = header.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case VP8_EXTENDED:
      return { width: header.readUIntLE(24, 3) + 1, height: header.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** Reads segment after segment up to the one that begins a frame (ITU T.81, section B.2.2). */
function jpegSize(header: Buffer): ImageSize | undefined {
  let at = 2
  while (at + 9 <= header.length) {
    if (header[at] !== JPEG_MARKER) return undefined
    const marker = header.readUInt8(at + 1)
    if (isFrame(marker)) return { width: header.readUInt16BE(at + 7), height: header.readUInt16BE(at + 5) }
    // A marker may be padded with repetitions of its first byte.
    at += marker === JPEG_MARKER ? 1 : 2 + header.readUInt16BE(at + 2)
  }
  return undefined
}

/** Returns true for a frame's marker; C4, C8 and CC are in its range, and are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
