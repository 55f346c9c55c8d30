import test from 'ava'
import { addressOf } from './address.ts'

test('vertex address: the world, a continent and a region have hosts of different forms', (t) => {
  t.is(addressOf('global'), 'https://aiplatform.googleapis.com')
  t.is(addressOf('eu'), 'https://aiplatform.eu.rep.googleapis.com')
  t.is(addressOf('us-east5'), 'https://us-east5-aiplatform.googleapis.com')
})
