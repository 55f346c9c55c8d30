import { createSettingStore } from '../../../src/stores/sql/settings/setting-store.ts'
import { engines } from './places.ts'

const BY = { actor: 'user:ada', accountId: 'ada' }

for (const engine of engines) {
  engine.test(
    'settings: changes at once are numbered one after another, and the last of a name is in force',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const settings = createSettingStore(store)
      t.is(await settings.version(), 0)
      const values = Array.from({ length: 12 }, (_, index) => String(index))
      const made = await Promise.all(values.map((value) => settings.change({ ...BY, name: 'costs.per_day', value })))
      t.deepEqual(
        made.map((change) => change?.seq ?? 0).toSorted((a, b) => a - b),
        values.map((_, index) => index + 1),
      )
      const last = made.find((change) => change?.seq === values.length)
      await settings.change({ ...BY, name: 'models.fast', value: '"demo/echo"' })
      await settings.change({ ...BY, name: 'models.fast', value: null })
      t.deepEqual(await settings.read(), {
        version: values.length + 2,
        values: [{ name: 'costs.per_day', value: last?.value ?? '' }],
        keys: [],
      })
      const [newest, second] = await settings.list()
      t.like(newest, { name: 'models.fast', value: null, previous: '"demo/echo"', actor: 'user:ada' })
      t.is(await settings.change({ ...BY, name: 'models.fast', value: '1', onlyAfter: second?.seq ?? 0 }), undefined)
      t.is((await settings.list()).length, values.length + 2)
      t.is((await store.run('audit.list', { accountId: 'ada' })).length, values.length + 2)
    },
  )

  engine.test('settings: a stored key replaces the one before, and a deleted one leaves no ciphertext', async (t) => {
    const place = await engine.createPlace(t)
    const settings = createSettingStore(await place.open())
    const key = { ...BY, name: 'providers.groq.api_key', provider: 'groq', value: '{"endsWith":"abcd"}' }
    await settings.changeKey({ ...key, sealed: 'first' })
    await settings.changeKey({ ...key, sealed: 'second' })
    t.deepEqual((await settings.read()).keys, [{ provider: 'groq', sealed: 'second' }])
    await settings.changeKey({ ...key, value: null, sealed: null })
    t.like(await settings.read(), { version: 3, values: [], keys: [] })
  })

  engine.test('settings: callers over a limit are listed by their windows, largest first', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const hold = (holdId: string, scope: string, amountNanoUsd: number) => {
      const windows = [{ scope, window: 'd:2026-11-23', limitNanoUsd: 100 }]
      return store.run('spend.reserve', { holdId, amountNanoUsd, windows, leaseMs: 60_000 })
    }
    await hold('a', 'key:a', 50)
    await hold('b', 'key:b', 70)
    await hold('c', 'user:c', 90)
    const query = { window: 'd:2026-11-23', scope: 'key:', limitNanoUsd: 50, most: 5 }
    const over = [
      { scope: 'key:b', nanoUsd: 70 },
      { scope: 'key:a', nanoUsd: 50 },
    ]
    t.deepEqual(await store.run('spend.over', query), over)
    t.deepEqual(await store.run('spend.over', { ...query, limitNanoUsd: 51, most: 1 }), over.slice(0, 1))
  })
}
