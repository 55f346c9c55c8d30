import type { RouteEntry } from './routes.ts'

const CLOUD = { access: 'session', only: 'cloud' } as const
const LIMIT = { limit: 'Page size, 1 to 500. Default 100.' }
const PAGE = {
  ...LIMIT,
  search: 'Part of an id, a name or an e-mail address, in any case.',
  after: 'The `id` after which to continue.',
}
const PEOPLE = '/v1/admin/people'
const TEAMS = '/v1/admin/teams'
const KEYS = '/v1/admin/keys'

/** Routes of the administration of people, teams, keys and tags. */
export const ADMIN_ROUTES: readonly RouteEntry[] = [
  { method: 'get', path: PEOPLE, summary: 'Lists people, by id.', ...CLOUD, query: PAGE, reply: 'PersonList' },
  {
    method: 'post',
    path: PEOPLE,
    summary: 'Creates a person before the first sign-in.',
    ...CLOUD,
    status: '201',
    body: 'NewPerson',
    reply: 'Person',
  },
  { method: 'get', path: `${PEOPLE}/{id}`, summary: 'Returns a person.', ...CLOUD, reply: 'ListedPerson' },
  {
    method: 'patch',
    path: `${PEOPLE}/{id}`,
    summary: 'Changes a person.',
    ...CLOUD,
    body: 'PersonChange',
    reply: 'Person',
  },
  {
    method: 'post',
    path: `${PEOPLE}/{id}/suspend`,
    summary: 'Refuses a person’s keys and sessions.',
    ...CLOUD,
    status: '204',
  },
  { method: 'post', path: `${PEOPLE}/{id}/resume`, summary: 'Resumes a suspended person.', ...CLOUD, status: '204' },
  {
    method: 'get',
    path: TEAMS,
    summary: 'Lists teams, by name, archived ones last.',
    ...CLOUD,
    query: { ...LIMIT, search: PAGE.search },
    reply: 'TeamList',
  },
  { method: 'post', path: TEAMS, summary: 'Creates a team.', ...CLOUD, status: '201', body: 'NewTeam', reply: 'Team' },
  { method: 'get', path: `${TEAMS}/{id}`, summary: 'Returns a team.', ...CLOUD, reply: 'ListedTeam' },
  {
    method: 'patch',
    path: `${TEAMS}/{id}`,
    summary: 'Changes or archives a team.',
    ...CLOUD,
    body: 'TeamChange',
    reply: 'Team',
  },
  {
    method: 'put',
    path: `${TEAMS}/{id}/members/{person}`,
    summary: 'Puts a person into a team, or changes the role there.',
    ...CLOUD,
    body: 'MemberRole',
    reply: 'MemberRole',
  },
  {
    method: 'delete',
    path: `${TEAMS}/{id}/members/{person}`,
    summary: 'Takes a person out of a team, and suspends the person’s keys of it.',
    ...CLOUD,
    status: '204',
  },
  {
    method: 'get',
    path: KEYS,
    summary: 'Lists keys of all accounts, newest first.',
    ...CLOUD,
    query: {
      ...PAGE,
      person: 'Only keys of this person.',
      team: 'Only keys of this team.',
      revoked: '`true` or `false`.',
    },
    reply: 'ManagedKeyList',
  },
  {
    method: 'post',
    path: KEYS,
    summary: 'Creates a key for a person.',
    ...CLOUD,
    status: '201',
    body: 'NewManagedKey',
    reply: 'KeyWithSecret',
  },
  { method: 'get', path: `${KEYS}/{id}`, summary: 'Returns a key.', ...CLOUD, reply: 'ListedManagedKey' },
  {
    method: 'patch',
    path: `${KEYS}/{id}`,
    summary: 'Changes a key.',
    ...CLOUD,
    body: 'ManagedKeyChange',
    reply: 'ManagedKey',
  },
  { method: 'delete', path: `${KEYS}/{id}`, summary: 'Revokes a key.', ...CLOUD, status: '204' },
  {
    method: 'post',
    path: `${KEYS}/{id}/rotate`,
    summary: 'Gives a key a new secret; the one before works for the overlap.',
    ...CLOUD,
    body: 'KeyRotation',
    reply: 'KeyWithSecret',
  },
  { method: 'post', path: `${KEYS}/{id}/suspend`, summary: 'Suspends a key.', ...CLOUD, reply: 'ManagedKey' },
  { method: 'post', path: `${KEYS}/{id}/resume`, summary: 'Resumes a suspended key.', ...CLOUD, reply: 'ManagedKey' },
  { method: 'get', path: '/v1/admin/tags', summary: 'Lists the tags that have limits.', ...CLOUD, reply: 'TagList' },
  {
    method: 'put',
    path: '/v1/admin/tags/{name}',
    summary: 'Sets the limits of a tag; `null` removes them.',
    ...CLOUD,
    body: 'TagChange',
    reply: 'Tag',
  },
  {
    method: 'get',
    path: '/v1/admin/audit',
    summary: 'Lists audit entries, newest first.',
    ...CLOUD,
    query: { ...LIMIT, after: PAGE.after, person: 'Only entries of this account.' },
    reply: 'AuditList',
  },
]
