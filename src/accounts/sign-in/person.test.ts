import test from 'ava'
import { type Claims, type PersonRules, personOf } from './person.ts'

const RULES: PersonRules = {
  userClaim: 'sub',
  groupsClaim: 'groups',
  teams: { eng: 'Engineering', leads: { team: 'engineering', role: 'lead' }, ops: 'Operations' },
  roles: { admins: 'operator', auditors: 'viewer' },
  emailDomains: [],
}
const read = (claims: Claims, rules: Partial<PersonRules> = {}) =>
  personOf({ sub: 'u', ...claims }, { ...RULES, ...rules })

test('person: groups give each team once, as lead if one of them leads', (t) => {
  const rows: [groups: unknown, teams: string[]][] = [
    [['eng', 'leads', 'eng'], ['Engineering lead']],
    [
      ['leads', 'ops', 'other'],
      ['engineering lead', 'Operations'],
    ],
    ['eng', ['Engineering']],
    [['ENG', 'eng ', 7, null, ['eng']], []],
    [{ eng: true }, []],
    [undefined, []],
    [['__proto__', 'constructor', 'toString'], []],
  ]
  for (const [groups, expected] of rows) {
    const { teams } = read({ groups })
    t.deepEqual(
      teams.map(({ team, isLead }) => `${team}${isLead ? ' lead' : ''}`),
      expected,
      JSON.stringify(groups),
    )
  }
})

test('person: the highest role of the groups counts', (t) => {
  t.is(read({ groups: ['auditors', 'admins'] }).role, 'operator')
  t.is(read({ groups: ['auditors'] }).role, 'viewer')
  t.is(read({ groups: ['eng'] }).role, null)
})

test('person: the claim of groups may be within objects, and a name with dots is looked up whole first', (t) => {
  const nested = { realm_access: { roles: ['eng'] } }
  t.is(read(nested, { groupsClaim: 'realm_access.roles' }).teams.length, 1)
  t.is(read({ 'https://a.example/groups': ['eng'] }, { groupsClaim: 'https://a.example/groups' }).teams.length, 1)
  t.is(read({ ...nested, 'realm_access.roles': [] }, { groupsClaim: 'realm_access.roles' }).teams.length, 0)
  t.is(read(nested, { groupsClaim: 'realm_access.constructor.name' }).teams.length, 0)
})

test('person: an address counts when it is verified', (t) => {
  const rows: [claims: Claims, email: string | null][] = [
    [{ email: 'Ada@Example.com', email_verified: true }, 'ada@example.com'],
    [{ email: 'ada@example.com', email_verified: 'true' }, null],
    [{ email: 'ada@example.com' }, null],
    [{ email: 'ada@example.com@evil.example', email_verified: true }, null],
    [{ email: 'ada\u202e@example.com', email_verified: true }, null],
    [{ email: ['ada@example.com'], email_verified: true }, null],
  ]
  for (const [claims, email] of rows) t.is(read(claims).email, email, JSON.stringify(claims))
})

test('person: domains are compared whole', (t) => {
  const emailDomains = ['example.com']
  t.notThrows(() => read({ email: 'a@example.com', email_verified: true }, { emailDomains }))
  for (const email of ['a@sub.example.com', 'a@example.com.evil.example', 'a@evilexample.com', 'example.com'])
    t.throws(() => read({ email, email_verified: true }, { emailDomains }), { code: 'permission_error' }, email)
  t.throws(() => read({ email: 'a@example.com' }, { emailDomains }), { code: 'permission_error' })
})

test('person: names have no controls, no directions and a bound', (t) => {
  t.is(read({ name: ' \u202eEve\u0000 ' }).name, 'Eve')
  t.is(read({ name: '\u0000', preferred_username: 'eve' }).name, 'eve')
  t.is(read({ name: 7 }).name, null)
  t.is(read({ name: 'x'.repeat(5000) }).name?.length, 200)
})
