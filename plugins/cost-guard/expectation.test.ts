import test from 'ava'
import { Expectation } from './expectation.ts'

test('expectation: an unknown key has a default', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 4; i++) expectation.learn('a', 50_000)
  t.is(expectation.tokens('a'), 1024)
  t.is(expectation.tokens('b'), 1024)
})

test('expectation: nearly all of the last replies stay below', (t) => {
  const expectation = new Expectation()
  for (let tokens = 1; tokens <= 100; tokens++) expectation.learn('a', tokens * 10)
  const expected = expectation.tokens('a')
  t.true(expected >= 950 && expected <= 1000, String(expected))
})

test('expectation: follows when replies become shorter', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 64; i++) expectation.learn('a', 9000)
  for (let i = 0; i < 64; i++) expectation.learn('a', 500)
  t.is(expectation.tokens('a'), 500)
})

test('expectation: keys are bounded; the least recently used is evicted', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 5; i++) expectation.learn('old', 200)
  for (let i = 0; i < 5; i++) expectation.learn('used', 200)
  for (let i = 0; i < 1998; i++) expectation.learn(`key ${i}`, 1)
  expectation.learn('used', 200)
  expectation.learn('new', 1)
  t.is(expectation.tokens('old'), 1024)
  t.is(expectation.tokens('used'), 200)
})
