import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const PODS = ['api', 'worker', 'billing', 'mailer', 'ingest']
const STATES = ['CrashLoopBackOff', 'ImagePullBackOff', 'Completed', 'Evicted']

const table = (random: Random, count: number) =>
  `NAME READY STATUS RESTARTS AGE\n${Array.from({ length: count }, () => `${random.pick(PODS)}-${random.int(100, 999)} 0/1 ${random.pick(STATES)} ${random.int(0, 40)} ${random.int(2, 40)}d`).join('\n')}`

/** An agent that operates a cluster, in French. */
export const cluster: World = {
  name: 'cluster operator (French, errors unmarked)',
  remarks: ['Je vérifie encore une fois.', 'Voyons les journaux.', ''],
  texts: [['Je vais maintenant redémarrer le déploiement de l’API.', 'Continuez, sans poser de question.']],
  observation(random) {
    return {
      name: 'kubectl_get',
      input: { kind: 'pods', namespace: random.pick(PODS) },
      result: table(random, random.int(2, 30)),
    }
  },
  attempts(random) {
    const namespace = random.pick(PODS)
    return (index) => ({
      name: 'helm_upgrade',
      input: {
        namespace,
        chart: `./charts/${PODS[index % PODS.length]}`,
        set: `replicas=${index},image.tag=v${random.int(1, 99)}`,
      },
      result: `Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in conflict, tentative ${index + 1}`,
    })
  },
  searches(random) {
    const result = table(random, random.int(8, 25))
    return (index) => ({
      name: 'kubectl_get',
      input: { kind: 'pods', selector: `${random.pick(PODS)}!=${'x'.repeat(index + 1)}` },
      result,
    })
  },
  numbered(random) {
    const pod = random.pick(PODS)
    return (index) => ({
      name: 'kubectl_logs',
      input: { pod, since_time: `2026-11-23T09:${String(10 + (index % 40)).padStart(2, '0')}:00Z` },
      result: `erreur : connexion à la base refusée par l’hôte db-${pod}, le certificat a expiré depuis le mois dernier\nfin du journal`,
    })
  },
  work(random) {
    return (index) => ({
      name: random.pick(['kubectl_get', 'kubectl_describe', 'kubectl_logs']),
      input: { kind: random.pick(['svc', 'pods', 'jobs']), name: `${random.pick(PODS)}-${index}` },
      result: table(random, random.int(1, 20)),
    })
  },
  pages(random) {
    return (index) => ({
      name: 'kubectl_events',
      input: { limit: 50, continue: `tok${index}${random.hex(20)}` },
      result: table(random, 30),
    })
  },
  status: () => ({
    name: 'kubectl_config',
    input: { action: 'current-context' },
    result: 'contexte : production-europe-ouest, espace : par défaut',
  }),
  runs(random) {
    return () => ({
      name: 'kubectl_top',
      input: { kind: 'nodes' },
      result: `noeud-1 ${random.int(100, 99_999)}m ${random.int(100, 99_999)}Mi`,
    })
  },
  poll(random) {
    const start = random.int(10, 30)
    return (index) => ({
      name: 'rollout_status',
      input: { deployment: 'api' },
      result: `en attente : ${start + index} répliques sur 900 sont à jour`,
    })
  },
  changes() {
    return (index) => ({ name: 'kubectl_label', input: { pod: `api-${index}`, label: 'vu=oui' }, result: 'étiqueté' })
  },
  misses(random) {
    return (index) => ({
      name: 'kubectl_get',
      input: { kind: 'secrets', name: `${random.pick(PODS)}-${index}` },
      result: 'No resources found in default namespace.',
    })
  },
}
