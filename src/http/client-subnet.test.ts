import test from 'ava'
import { clientSubnet } from './client-subnet.ts'

test('client subnet: maps an IPv6 address to its /64 network and keeps an IPv4 address', (t) => {
  t.is(clientSubnet('127.0.0.1'), '127.0.0.1')
  t.is(clientSubnet('::ffff:10.1.2.3'), '::ffff:10.1.2.3')
  t.is(clientSubnet('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  t.is(clientSubnet('2001:db8::6'), '2001:db8:0:0')
  t.is(clientSubnet('2001:db8:1:2::'), '2001:db8:1:2')
  t.is(clientSubnet('fe80::1%eth0'), 'fe80:0:0:0')
  t.is(clientSubnet('::1'), '0:0:0:0')
  t.is(clientSubnet(undefined), 'unknown')
})
