import test from 'ava'
import { clientSubnet } from './client-subnet.ts'

test('client subnet: an address of IPv6 counts as its network, one of IPv4 as itself', (t) => {
  t.is(clientSubnet('127.0.0.1'), '127.0.0.1')
  t.is(clientSubnet('::ffff:10.1.2.3'), '::ffff:10.1.2.3')
  t.is(clientSubnet('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  t.is(clientSubnet('2001:db8::6'), '2001:db8:0:0')
  t.is(clientSubnet('2001:db8:1:2::'), '2001:db8:1:2')
  t.is(clientSubnet('fe80::1%eth0'), 'fe80:0:0:0')
  t.is(clientSubnet('::1'), '0:0:0:0')
  t.is(clientSubnet(undefined), 'unknown')
})
