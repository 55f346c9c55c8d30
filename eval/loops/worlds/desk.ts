import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const CITIES = ['Köln', 'Bremen', 'Ulm', 'Kassel', 'Erfurt', 'Mainz']
const PARTS = ['Pumpe', 'Ventil', 'Dichtung', 'Motor', 'Regler', 'Filter']

const order = (random: Random) => ({
  auftrag: random.int(10_000, 99_999),
  ort: random.pick(CITIES),
  teil: random.pick(PARTS),
  menge: random.int(1, 40),
})
const orders = (random: Random, count: number) =>
  JSON.stringify({ ergebnis: Array.from({ length: count }, () => order(random)), gesamt: 412 })

/** A support desk with JSON tools, in German. */
export const desk: World = {
  name: 'support desk (German, JSON)',
  remarks: ['Ich sehe nach.', 'Einen Moment bitte.', ''],
  texts: [['Ihr Auftrag wird gerade von mir geprüft, bitte warten Sie.', 'Bitte weiter.']],
  observation(random) {
    const found = order(random)
    const result = JSON.stringify({
      ...found,
      request_id: `req_${random.hex(16)}`,
      abgerufen: `2026-11-23T10:${random.int(10, 59)}:05Z`,
    })
    return { name: 'auftrag_lesen', input: { auftrag: found.auftrag, kunde: `K-${random.int(100, 999)}` }, result }
  },
  attempts(random) {
    const kunde = `kunde-${random.int(100, 999)}`
    return (index) => ({
      name: 'auftrag_anlegen',
      input: { kunde, ort: CITIES[index % CITIES.length], menge: random.int(1, 900) },
      result: '{"error":"Die Lieferadresse des Kunden ist gesperrt, Code A17"}',
    })
  },
  searches(random) {
    const result = orders(random, random.int(4, 12))
    return (index) => ({
      name: 'auftrag_suchen',
      input: { frage: `${random.pick(PARTS)} ${PARTS[index % PARTS.length]}` },
      result,
    })
  },
  numbered(random) {
    const result = JSON.stringify({
      stand: 'Lieferschein fehlt noch, Auftrag ist angehalten',
      lager: random.pick(CITIES),
      meldung: 'Bitte Lager anrufen',
    })
    const auftrag = random.int(1000, 9999)
    if (random.chance(0.5))
      return (index) => ({
        name: 'stand_lesen',
        input: { auftrag, timestamp: 1_790_000_000_000 + index * 5003 },
        result,
      })
    return (index) => ({ name: 'stand_lesen', input: { auftrag, versuch: index + 1 }, result })
  },
  work(random) {
    return (index) => ({
      name: random.pick(['auftrag_lesen', 'kunde_lesen', 'lager_lesen']),
      input: { nummer: index * 31 + random.int(1, 30) },
      result: JSON.stringify(order(random)),
    })
  },
  pages(random) {
    return (index) => ({ name: 'auftrag_liste', input: { seite: index + 1, je_seite: 10 }, result: orders(random, 10) })
  },
  status: () => ({
    name: 'korb_lesen',
    input: { korb: 'hauptkorb' },
    result: '{"korb":"hauptkorb","teile":[],"summe":"0,00 EUR","kunde":"K-311"}',
  }),
  runs(random) {
    return () => ({
      name: 'bestand_lesen',
      input: { teil: 'Pumpe' },
      result: JSON.stringify({ teil: 'Pumpe', bestand: random.int(1, 100_000) }),
    })
  },
  poll(random) {
    const start = random.int(1, 5)
    return (index) => ({
      name: 'export_stand',
      input: { export: 77 },
      result: JSON.stringify({ export: 77, fertig: `${start + index} %`, zeilen: (start + index) * 310 }),
    })
  },
  changes() {
    return (index) => ({ name: 'notiz_loeschen', input: { notiz: 500 + index }, result: '{"ok":true}' })
  },
  misses(random) {
    return (index) => ({
      name: 'kunde_suchen',
      input: { name: `${random.pick(CITIES)}er ${index}` },
      result: '{"ergebnis":[],"gesamt":0}',
    })
  },
}
