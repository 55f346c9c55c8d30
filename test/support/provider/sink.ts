import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBrotliCompress, createDeflate, createGzip, createZstdCompress } from 'node:zlib'
import type { Encoding } from './script.ts'

/** Receiver of the chunks of a body. Both methods resolve when the bytes are with the kernel, or will never be. */
export interface Sink {
  write(piece: Buffer): Promise<void>
  end(): Promise<void>
}

const encoders = {
  gzip: createGzip,
  deflate: createDeflate,
  br: createBrotliCompress,
  zstd: createZstdCompress,
}

/** Writes to a response directly, or through an encoder that is flushed after every chunk, so that none waits in it. */
export function createSink(response: ServerResponse, left: Promise<void>, encoding?: Encoding): Sink {
  const plain = createPlainSink(response, left)
  return encoding ? createEncodedSink(plain, left, encoding) : plain
}

function createPlainSink(response: ServerResponse, left: Promise<void>): Sink {
  const done = (start: (callback: () => void) => unknown) => Promise.race([new Promise<void>(start), left])
  return {
    write: (piece) => done((callback) => response.write(piece, callback)),
    end: () => done((callback) => response.end(callback)),
  }
}

function createEncodedSink(plain: Sink, left: Promise<void>, encoding: Encoding): Sink {
  const encoder = encoders[encoding]()
  const ready: Buffer[] = []
  encoder.on('data', (bytes: Buffer) => ready.push(bytes))
  const ended = new Promise<void>((resolve) => encoder.once('end', resolve))
  void left.then(() => encoder.destroy())
  const drain = () => plain.write(Buffer.concat(ready.splice(0)))
  return {
    async write(piece) {
      encoder.write(piece)
      await Promise.race([new Promise<void>((resolve) => encoder.flush(resolve)), left])
      await nextTurn() // the flushed bytes are emitted as data after the callback
      await drain()
    },
    async end() {
      encoder.end()
      await Promise.race([ended, left])
      await drain()
      await plain.end()
    },
  }
}
