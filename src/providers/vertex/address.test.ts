import test from 'ava'
import { addressOf } from './address.ts'

test('vertex address: global, multi-region and regional hosts have different forms', (t) => {
  t.is(addressOf('global'), 'https://aiplatform.googleapis.com')
  t.is(addressOf('eu'), 'https://aiplatform.eu.rep.googleapis.com')
  t.is(addressOf('us-east5'), 'https://us-east5-aiplatform.googleapis.com')
})
