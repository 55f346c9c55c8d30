import { bearer, type CreatedKey, sendAs } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { fleets } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { valueAt } from '../support/json.ts'

const BOSS = 'boss'
let names = 0
/** Returns a name that no other test uses. */
const fresh = (kind: string) => `${kind}-${++names}`

type Door = Pick<Gateway, 'url'>

/** Sends a request of a user to the administration. */
async function admin(door: Door, user: string, call: string, body?: JsonObject): Promise<Reply> {
  const [method = 'GET', path = ''] = call.split(' ')
  return sendAs(user, door.url, { method, path: `/v1/admin/${path}`, ...(body && { body }) })
}

/** Sends a request as the operator, which is expected to succeed, and returns its reply's body. */
async function done<Body = JsonObject>(door: Door, call: string, body?: JsonObject): Promise<Body> {
  const reply = await admin(door, BOSS, call, body)
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json as Body
}

function use({ url }: Door, { key }: { key: string }): Promise<Reply> {
  return send(url, { body: ask('hi', { model: 'demo/echo' }), headers: bearer(key) })
}

/** Creates a team with these members, the first of whom leads it. */
async function teamOf(door: Door, members: readonly string[], limits?: JsonObject): Promise<string> {
  const { id } = await done<{ id: string }>(door, 'POST teams', { name: fresh('team'), ...(limits && { limits }) })
  for (const [index, person] of members.entries()) {
    await sendAs(person, door.url, { method: 'GET', path: '/v1/keys' })
    await done(door, `PUT teams/${id}/members/${person}`, { role: index === 0 ? 'lead' : 'member' })
  }
  return id
}

function keyFor(door: Door, personId: string, fields: JsonObject = {}): Promise<CreatedKey> {
  return done<CreatedKey>(door, 'POST keys', { personId, ...fields })
}

for (const fleet of fleets({ SVC_RATE_LIMIT: '0', SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}` })) {
  fleet.test('a key for a newcomer, with team, tags, limits and expiry, is in force at once', async (t) => {
    const { next } = await fleet.open()
    const person = fresh('newcomer')
    await done(next(), 'POST people', { id: person, name: 'New Comer', email: 'new@example.com' })
    const team = await teamOf(next(), [person])
    const limits = { models: ['demo/echo'], costPerDay: 5 }
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const fields = { name: 'laptop', teamId: team, tags: ['web', 'ci'], limits, expiresAt }
    const { key, ...created } = await keyFor(next(), person, fields)
    t.like(created, { name: 'laptop', teamId: team, tags: ['ci', 'web'], limits, expiresAt })
    t.is((await use(next(), { key })).status, 200)
    const { data } = await done<{ data: JsonObject[] }>(next(), `GET keys?person=${person}`)
    t.is(data.length, 1)
    t.like(data[0], { id: created.id, personName: 'New Comer', createdBy: `user:${BOSS}`, limitsAreManaged: true })
    t.like(await done(next(), `GET people/${person}`), { keys: 1, email: 'new@example.com', teams: [{ id: team }] })
    const listed = await done<{ data: JsonObject[] }>(next(), 'GET people?search=NEW%20com')
    t.is(valueAt(listed, 'data.0.id'), person)
  })

  fleet.test('limits, expiry and suspension are those of the next request on every gateway', async (t) => {
    const { gateways, next } = await fleet.open()
    const person = fresh('limited')
    const team = await teamOf(next(), [person])
    const key = await keyFor(next(), person, { teamId: team })
    const [keyPath, personPath, teamPath] = [`keys/${key.id}`, `people/${person}`, `teams/${team}`]
    const none = { limits: null }
    const rows: [call: string, body: JsonObject, status: number, words: RegExp, undo: [string, JsonObject]][] = [
      [`PATCH ${keyPath}`, { limits: { models: ['x'] } }, 403, /this key may not/, [`PATCH ${keyPath}`, none]],
      [`PATCH ${personPath}`, { limits: { models: ['x'] } }, 403, /owner may not/, [`PATCH ${personPath}`, none]],
      [`PATCH ${teamPath}`, { limits: { models: ['x'] } }, 403, /team may not/, [`PATCH ${teamPath}`, none]],
      [`POST ${keyPath}/suspend`, {}, 403, /API key is suspended/, [`POST ${keyPath}/resume`, {}]],
      [`POST ${personPath}/suspend`, {}, 403, /account is suspended/, [`POST ${personPath}/resume`, {}]],
      [
        `PATCH ${keyPath}`,
        { expiresAt: '2020-01-01T00:00:00Z' },
        401,
        /expired at 2020/,
        [`PATCH ${keyPath}`, { expiresAt: null }],
      ],
    ]
    for (const [call, body, status, words, undo] of rows) {
      await done(next(), call, body)
      for (const gateway of gateways) {
        const refused = await use(gateway, key)
        t.is(refused.status, status, `${call} ${refused.text}`)
        t.regex(refused.text, words)
      }
      await done(next(), ...undo)
      for (const gateway of gateways) t.is((await use(gateway, key)).status, 200, call)
    }
  })

  fleet.test('requests per minute of a person and a team count all of their keys', async (t) => {
    const { gateways, next } = await fleet.open()
    const [gateway] = gateways
    for (const owner of ['owner', 'team'] as const) {
      const person = fresh('rated')
      const team = await teamOf(next(), [person])
      const keys = [await keyFor(next(), person, { teamId: team }), await keyFor(next(), person, { teamId: team })]
      const path = owner === 'team' ? `teams/${team}` : `people/${person}`
      await done(next(), `PATCH ${path}`, { limits: { requestsPerMinute: 2 } })
      for (const key of keys) t.is((await use(gateway, key)).status, 200)
      for (const key of keys) {
        const refused = await use(gateway, key)
        t.is(refused.status, 429)
        t.regex(refused.text, new RegExp(`More than 2 requests in 60 seconds by the ${owner} of this key`))
      }
    }
  })

  fleet.test(
    'rotation: both secrets work during the overlap, with requests in flight, then the new one alone',
    async (t) => {
      const { gateways, next } = await fleet.open()
      const person = fresh('rotating')
      const old = await keyFor(next(), await personAt(next(), person))
      const inFlight = Array.from({ length: 12 }, (_, i) => use(gateways[i % gateways.length] ?? next(), old))
      const path = `/v1/keys/${old.id}/rotate`
      const rotate = async (body: JsonObject) => {
        const reply = await sendAs(person, next().url, { path, body })
        t.is(reply.status, 200, reply.text)
        return reply.json as unknown as CreatedKey & { previousUntil: string }
      }
      const renewed = await rotate({ overlapSeconds: 600 })
      t.is(renewed.id, old.id)
      t.deepEqual(
        (await Promise.all(inFlight)).map(({ status }) => status),
        Array(12).fill(200),
      )
      for (const gateway of gateways) for (const key of [old, renewed]) t.is((await use(gateway, key)).status, 200)
      const last = await rotate({ overlapSeconds: 0 })
      for (const gateway of gateways) {
        t.is((await use(gateway, last)).status, 200)
        t.is(valueAt((await use(gateway, renewed)).json, 'error.type'), 'authentication_error')
        t.regex((await use(gateway, renewed)).text, /was rotated/)
        t.is((await use(gateway, old)).status, 401, 'the one before the last')
      }
      const stranger = await sendAs(fresh('stranger'), next().url, { path, body: {} })
      t.is(stranger.status, 404)
    },
  )

  fleet.test('limits set by an operator stay, whatever the key’s owner sends', async (t) => {
    const { next } = await fleet.open()
    const person = await personAt(next(), fresh('bound'))
    const { id } = await keyFor(next(), person, { limits: { costPerDay: 1 } })
    const patch = (body: JsonObject) =>
      sendAs(person, next().url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { ...body } })
    for (const limits of [null, {}, { costPerDay: 100 }]) t.is((await patch({ limits })).status, 403)
    t.is((await patch({ name: 'mine' })).status, 200)
    t.like(await done(next(), `GET keys/${id}`), { limits: { costPerDay: 1 } })
    await done(next(), `PATCH keys/${id}`, { limits: null })
    t.is((await patch({ limits: { costPerDay: 2 } })).status, 200)
  })

  fleet.test('a tag has limits of money, and no others', async (t) => {
    const { next } = await fleet.open()
    const refused = await admin(next(), BOSS, 'PUT tags/web', { limits: { models: ['x'] } })
    t.is(refused.status, 400)
    t.regex(refused.text, /limits: unknown field `models`/)
    t.like(await done(next(), 'PUT tags/web', { limits: { costPerDay: 1 } }), { limits: { costPerDay: 1 } })
    t.is(valueAt(await done(next(), 'PUT tags/web', { limits: null }), 'limits'), null)
  })

  fleet.test(
    'names: of people and keys they may repeat, of teams in no case; a search finds each as it is written',
    async (t) => {
      const { next } = await fleet.open()
      const [one, other] = [fresh('named'), fresh('named')]
      for (const id of [one, other]) await done(next(), 'POST people', { id, name: 'Ödön von Ångström 100%_😀' })
      await done(next(), 'POST teams', { name: 'Équipe Çà' })
      for (const name of ['Équipe Çà', 'ÉQUIPE ÇÀ', 'équipe çà']) {
        const refused = await admin(next(), BOSS, 'POST teams', { name })
        t.is(refused.status, 400, name)
        t.regex(refused.text, /a team is named/)
      }
      for (const personId of [one, other]) await keyFor(next(), personId, { name: 'Schlüssel' })
      const found = async (list: string, search: string) => {
        const { data } = await done<{ data: unknown[] }>(next(), `GET ${list}?search=${encodeURIComponent(search)}`)
        return data.length
      }
      for (const search of ['Ödön von Ångström', 'VON', '100%_😀', 'Ö']) t.is(await found('people', search), 2, search)
      for (const search of ['100%%', '1__%', 'Odon']) t.is(await found('people', search), 0, search)
      t.is(await found('teams', 'Équipe'), 1)
      t.is(await found('keys', 'SCHLüSSEL'), 2)
      t.is(await found('keys', 'Ångström'), 2, 'by the name of its owner')
    },
  )

  fleet.test('a person who leaves a team keeps other keys, and those of the team are suspended', async (t) => {
    const { next } = await fleet.open()
    const person = fresh('leaving')
    const team = await teamOf(next(), [fresh('lead'), person])
    const [ofTeam, own] = [await keyFor(next(), person, { teamId: team }), await keyFor(next(), person)]
    await done(next(), `DELETE teams/${team}/members/${person}`)
    t.is((await use(next(), ofTeam)).status, 403)
    t.is((await use(next(), own)).status, 200)
    const { data } = await done<{ data: JsonObject[] }>(next(), `GET audit?person=${person}`)
    t.like(
      data.find(({ action }) => action === 'key.suspended'),
      { actor: `user:${BOSS}`, subject: ofTeam.id, details: { reason: 'team.member-removed', team } },
    )
    const again = await admin(next(), BOSS, `PATCH keys/${own.id}`, { teamId: team })
    t.is(again.status, 400, 'no member')
  })

  fleet.test('roles: each cross-role try is refused and audited', async (t) => {
    const { next } = await fleet.open()
    const [lead, member, other, reader] = [fresh('lead'), fresh('member'), fresh('other'), fresh('reader')]
    const team = await teamOf(next(), [lead, member])
    const elsewhere = await teamOf(next(), [other])
    await personAt(next(), reader)
    await done(next(), `PATCH people/${reader}`, { role: 'viewer' })
    const key = await keyFor(next(), other, { teamId: elsewhere })
    const inTeam = await keyFor(next(), member, { teamId: team })
    const ofOthers = [
      `GET people/${other}`,
      `GET teams/${elsewhere}`,
      `GET keys/${key.id}`,
      `PATCH keys/${key.id}`,
      `DELETE keys/${key.id}`,
      `POST keys/${key.id}/rotate`,
      `POST keys/${key.id}/suspend`,
      `POST keys/${key.id}/resume`,
      `PUT teams/${elsewhere}/members/${lead}`,
      `DELETE teams/${elsewhere}/members/${other}`,
      `GET audit?person=${other}`,
    ]
    const ofOperators = [
      'POST people',
      `PATCH people/${lead}`,
      `PATCH people/${member}`,
      `POST people/${other}/suspend`,
      `POST people/${other}/resume`,
      'POST teams',
      `PATCH teams/${team}`,
      'GET tags',
      'PUT tags/web',
      'GET audit',
      'POST keys',
    ]
    const tries: [user: string, calls: readonly string[]][] = [
      [lead, [...ofOthers, ...ofOperators]],
      [member, [...ofOthers, ...ofOperators, `PATCH keys/${inTeam.id}`, `POST keys/${inTeam.id}/resume`]],
      [reader, [...ofOthers, ...ofOperators].filter((call) => !call.startsWith('GET'))],
    ]
    const bodies: Readonly<Record<string, JsonObject>> = {
      'POST keys': { personId: lead, teamId: elsewhere },
      'POST people': { id: fresh('person') },
    }
    let refused = 0
    for (const [user, calls] of tries) {
      for (const call of calls) {
        const reply = await admin(next(), user, call, call.startsWith('GET') ? undefined : (bodies[call] ?? {}))
        t.is(reply.status, 403, `${user} ${call} ${reply.text}`)
        refused++
      }
      const { data } = await done<{ data: JsonObject[] }>(next(), `GET audit?person=${user}&limit=500`)
      const audited = data.filter(({ action, actor }) => action === 'access.refused' && actor === `user:${user}`)
      t.is(audited.length, calls.length, user)
    }
    t.true(refused >= 60, String(refused))
    t.is((await use(next(), key)).status, 200, 'nothing was changed')
  })

  fleet.test('roles: a lead manages exactly the team, a viewer sees everything, a member itself', async (t) => {
    const { next } = await fleet.open()
    const [lead, member, other, reader] = [fresh('lead'), fresh('member'), fresh('other'), fresh('reader')]
    const team = await teamOf(next(), [lead, member])
    const elsewhere = await teamOf(next(), [other])
    await personAt(next(), reader)
    await done(next(), `PATCH people/${reader}`, { role: 'viewer' })
    const outside = await keyFor(next(), member)
    await keyFor(next(), other, { teamId: elsewhere })
    const made = await admin(next(), lead, 'POST keys', { personId: member, teamId: team })
    t.is(made.status, 201, made.text)
    const key = made.json as unknown as CreatedKey
    const idsSeen = async (user: string, list: string) => {
      const reply = await admin(next(), user, `GET ${list}?limit=500`)
      t.is(reply.status, 200, reply.text)
      return (valueAt(reply.json, 'data') as JsonObject[]).map(({ id }) => String(id)) // safe: rows of a list
    }
    t.deepEqual(await idsSeen(lead, 'people'), [lead, member].sort())
    t.deepEqual(await idsSeen(lead, 'teams'), [team])
    t.deepEqual(await idsSeen(lead, 'keys'), [key.id])
    const own = await keyFor(next(), lead, { teamId: team, limits: { costPerDay: 1 } })
    t.deepEqual(await idsSeen(member, 'people'), [member])
    t.deepEqual((await idsSeen(member, 'keys')).sort(), [key.id, outside.id].sort())
    t.is((await admin(next(), lead, `GET people/${member}`)).status, 200)
    t.is(valueAt((await admin(next(), lead, `GET people/${member}`)).json, 'keys'), 1, 'that of the team')
    const all = await idsSeen(reader, 'people')
    for (const person of [lead, member, other, reader]) t.true(all.includes(person))
    for (const [call, body, status] of [
      [`PATCH keys/${key.id}`, { limits: { costPerDay: 1 } }, 200],
      [`POST keys/${key.id}/suspend`, {}, 200],
      [`POST keys/${key.id}/resume`, {}, 200],
      [`POST keys/${key.id}/rotate`, {}, 200],
      [`PATCH keys/${own.id}`, { limits: null }, 403],
      [`POST keys/${own.id}/resume`, {}, 403],
      [`PATCH keys/${key.id}`, { teamId: null }, 403],
      [`PATCH keys/${key.id}`, { teamId: elsewhere }, 403],
      [`PUT teams/${team}/members/${other}`, {}, 404],
      [`PUT teams/${team}/members/${member}`, { role: 'lead' }, 200],
      [`DELETE teams/${team}/members/${member}`, {}, 204],
      [`DELETE keys/${key.id}`, {}, 204],
    ] as const)
      t.is((await admin(next(), lead, call, { ...body })).status, status, call)
  })

  fleet.test('spend against limits, the last use, and what was refused today', async (t) => {
    const { next } = await fleet.open()
    const person = fresh('spending')
    const team = await teamOf(next(), [person], { costPerDay: 5 })
    const key = await keyFor(next(), person, { teamId: team, limits: { models: ['demo/echo'] } })
    const gateway = next()
    t.is((await use(gateway, key)).status, 200)
    const body = ask('hi', { model: 'demo/other' })
    t.is((await send(gateway.url, { body, headers: bearer(key.key) })).status, 403)
    // Rows of requests are written a moment after the reply.
    await eventually(
      async () => valueAt(await done(gateway, `GET people/${person}`), 'refused.count') === 1,
      'the refused row',
    )
    for (const path of [`keys/${key.id}`, `people/${person}`, `teams/${team}`]) {
      const row = await done(gateway, `GET ${path}`)
      t.is(valueAt(row, 'refused.count'), 1, path)
      t.regex(String(valueAt(row, 'refused.reason')), /^permission_error: model: this key may not/)
      t.not(valueAt(row, 'lastUsedAt'), null)
      t.is(typeof valueAt(row, 'spend.day'), 'number')
    }
  })
}

/** Creates a person, and returns its id. */
async function personAt(door: Door, id: string): Promise<string> {
  await done(door, 'POST people', { id })
  return id
}
