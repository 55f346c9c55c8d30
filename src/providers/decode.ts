import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { abortable } from '../core/abortable.ts'
import type { ByteSource, ByteSourceSink } from '../core/reply/byte-source.ts'
import { ChunkBuffer } from '../core/reply/chunk-buffer.ts'
import { Flow } from '../core/reply/flow.ts'

const DECODERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
  'x-gzip': () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress(),
}

const NOTHING = Buffer.alloc(0)

/**
 * Decodes a compressed reply as it arrives. Providers are sent `accept-encoding: identity`; some compress nevertheless.
 * Returns the source itself when it is not compressed; throws when the encoding is unknown.
 */
export function decodeSource(source: ByteSource, contentEncoding: string | undefined): ByteSource {
  if (contentEncoding === undefined || contentEncoding === 'identity') return source
  const createDecoder = DECODERS[contentEncoding.toLowerCase()]
  if (createDecoder === undefined)
    throw new Error(
      `the provider's reply has content-encoding \`${contentEncoding}\`, which the request did not accept`,
    )
  return decodedSource(source, createDecoder())
}

function decodedSource(source: ByteSource, decoder: Transform): ByteSource {
  let isFed = false
  const stop = () => {
    if (!isFed) source.cancel()
    decoder.destroy()
  }
  const flow = new Flow({
    start() {
      decoder.on('data', (chunk: Buffer) => void flow.push(chunk))
      decoder.on('drain', () => source.resume())
      decoder.once('end', () => {
        flow.end()
        stop()
      })
      decoder.once('error', (error) => {
        flow.fail(error)
        stop()
      })
      source.start(feed)
    },
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    cancel: stop,
  })
  const feed: ByteSourceSink = {
    data(chunk) {
      if (!decoder.write(chunk)) source.pause()
    },
    end() {
      isFed = true
      decoder.end()
    },
    // Bytes that have arrived are decoded first: they may contain whole events.
    fail(error) {
      isFed = true
      decoder.write(NOTHING, () => decoder.destroy(error))
    },
  }
  return flow
}

/** Limits of reading a whole body, all required. */
export interface CollectLimits {
  readonly limitBytes: number
  readonly signal: AbortSignal
  /** Longest time until the body is whole, in milliseconds. */
  readonly timeoutMs: number
}

/** Collects a whole body. Rejects, and cancels the source, on failure, at a limit, or when the signal aborts. */
export async function collect(source: ByteSource, { limitBytes, signal, timeoutMs }: CollectLimits): Promise<Buffer> {
  const { promise: whole, resolve, reject } = Promise.withResolvers<Buffer>()
  const pieces = new ChunkBuffer()
  let isSettled = false
  const fail = (error: Error) => {
    isSettled = true
    reject(error)
  }
  source.start({
    data(chunk) {
      pieces.add(chunk)
      if (pieces.bytes > limitBytes) fail(new Error(`the provider's reply is larger than ${limitBytes} bytes`))
    },
    end() {
      isSettled = true
      resolve(pieces.take())
    },
    fail,
  })
  const onTimeout = () =>
    Object.assign(new Error(`the provider's reply was not whole within ${timeoutMs} ms`), { code: 'REPLY_TIMEOUT' })
  try {
    // Small bodies have arrived with their head: nothing is waited for.
    return await (isSettled && !signal.aborted ? whole : abortable(whole, { signal, timeoutMs, onTimeout }))
  } catch (error) {
    source.cancel()
    throw error
  }
}
