import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { ByteSource } from '../core/reply/byte-source.ts'
import { decodeSource } from './decode.ts'

test('decode: what came before a compressed reply broke off is passed on', async (t) => {
  const source: ByteSource = {
    start(sink) {
      sink.data(gzipSync('event: ping\n\n').subarray(0, -8))
      sink.fail(new Error('cut'))
    },
    pause() {},
    resume() {},
    cancel() {},
  }
  const { promise: failed, resolve } = Promise.withResolvers<Error>()
  let text = ''
  decodeSource(source, 'gzip').start({
    data(chunk) {
      text += chunk.toString()
    },
    end: () => t.fail(),
    fail: resolve,
  })
  t.is((await failed).message, 'cut')
  t.is(text, 'event: ping\n\n')
})
