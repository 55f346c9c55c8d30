import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import type { CapturedRequest } from '../../core/ports/capture.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import { ObservedResponse } from '../sent-body.ts'
import { captureRequest } from './capture-request.ts'

const MB = 1024 * 1024
const CALLER = { kind: 'key', scope: 'key:a', keyId: 'a', userId: 'u' } as const

/** Captures a request whose reply is written in these pieces, the last one with its end. */
function capture(original: Buffer, pieces: readonly Buffer[], isWanted = true) {
  const response = new ObservedResponse(new IncomingMessage(new Socket()))
  const kept: CapturedRequest[] = []
  const store = { put: (one: CapturedRequest) => kept.push(one), get: async () => undefined }
  // Safe: nothing else of the two is read.
  const client = { document: { bytes: original } }
  const exchange = { caller: CALLER, client, received: client, edits: [], watchEdits() {} } as unknown as Exchange
  const open = { id: 'r', exchange, response, guards: [] }
  captureRequest(open, { store, isWanted: () => isWanted } as unknown as Parameters<typeof captureRequest>[1])
  for (const piece of pieces.slice(0, -1)) response.write(piece)
  response.end(pieces.at(-1))
  response.emit('close')
  return kept
}

test('capture: of a request and its reply the first megabyte is kept, and the whole size', (t) => {
  const pieces = [0.4, 0.4, 0.4, 0.4].map((share, i) => Buffer.alloc(share * MB, i + 1))
  const [one] = capture(Buffer.alloc(1.5 * MB, 9), pieces)
  t.is(one?.scope, 'key:a')
  t.deepEqual([one?.request.bytes.length, one?.request.totalBytes], [MB, 1.5 * MB])
  const written = Buffer.concat(pieces)
  t.is(one?.reply.totalBytes, written.length)
  t.true(written.subarray(0, MB).equals(Buffer.from(one?.reply.bytes ?? [])))
})

test('capture: small bodies are kept whole, and those of others not at all', (t) => {
  const [one] = capture(Buffer.from('ask'), [Buffer.from('an'), Buffer.from('swer')])
  t.deepEqual([String(one?.request.bytes), String(Buffer.from(one?.reply.bytes ?? []))], ['ask', 'answer'])
  t.deepEqual(capture(Buffer.from('ask'), [Buffer.from('answer')], false), [])
})
