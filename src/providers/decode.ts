import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Pieces } from '../core/pieces.ts'
import type { ByteSource, ByteSourceSink } from '../core/reply.ts'

const DECODERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
  'x-gzip': () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress(),
}

const NOTHING = Buffer.alloc(0)

/**
 * Decodes a compressed reply as it comes. Providers are asked for plain bytes; some compress all the same.
 * Returns the source itself when it is not compressed; throws when the encoding is unknown.
 */
export function decodeSource(source: ByteSource, contentEncoding: string | undefined): ByteSource {
  if (contentEncoding === undefined || contentEncoding === 'identity') return source
  const createDecoder = DECODERS[contentEncoding.toLowerCase()]
  if (createDecoder === undefined)
    throw new Error(`the provider's reply has content-encoding \`${contentEncoding}\`, which it was not asked for`)
  return decodedSource(source, createDecoder())
}

function decodedSource(source: ByteSource, decoder: Transform): ByteSource {
  const feed: ByteSourceSink = {
    data(chunk) {
      if (!decoder.write(chunk)) source.pause()
    },
    end: () => decoder.end(),
    // What has arrived is decoded first: it may hold whole events.
    fail: (error) => void decoder.write(NOTHING, () => decoder.destroy(error)),
  }
  return {
    start(sink) {
      decoder.on('data', (chunk: Buffer) => sink.data(chunk))
      decoder.on('drain', () => source.resume())
      decoder.once('end', () => sink.end())
      decoder.once('error', (error) => {
        source.cancel()
        sink.fail(error)
      })
      source.start(feed)
    },
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    cancel() {
      source.cancel()
      decoder.destroy()
    },
  }
}

/** Collects a whole body, at most `limitBytes`. Rejects when the source fails, or is larger and is then cancelled. */
export function collect(source: ByteSource, limitBytes: number, signal?: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const pieces = new Pieces()
  const abort = () => {
    source.cancel()
    reject(signal?.reason)
  }
  const settle = (tell: () => void) => {
    signal?.removeEventListener('abort', abort)
    tell()
  }
  signal?.addEventListener('abort', abort)
  source.start({
    data(chunk) {
      pieces.add(chunk)
      if (pieces.bytes <= limitBytes) return
      source.cancel()
      settle(() => reject(new Error(`the provider's reply is larger than ${limitBytes} bytes`)))
    },
    end: () => settle(() => resolve(pieces.take())),
    fail: (error) => settle(() => reject(error)),
  })
  return promise
}
