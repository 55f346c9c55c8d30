import { managedKeyChangeFields, managedKeyFields, rotationFields } from '../../accounts/keys/fields.ts'
import {
  memberFields,
  newPersonFields,
  newTeamFields,
  personFields,
  tagFields,
  teamFields,
} from '../../accounts/people/fields.ts'
import { amount, anyOf, count, described, list, nullable, object, ref, text, time } from './shapes.ts'

const limits = { type: ['object', 'null'] }
const figures = {
  spend: object({ day: { ...amount, description: 'USD, in UTC.' }, month: amount }),
  refused: object({
    count: { ...count, description: 'Refused requests of today.' },
    reason: nullable('string'),
    at: nullable('string'),
  }),
}
const person = {
  id: text,
  name: nullable('string'),
  email: nullable('string'),
  role: anyOf('viewer', 'member', 'operator'),
  limits,
  createdAt: time,
  suspendedAt: nullable('string'),
  lastSeenAt: nullable('string'),
}
const team = { id: text, name: text, limits, createdAt: time, archivedAt: nullable('string') }
const key = { id: text, prefix: text, pipelineConfig: nullable('string'), createdAt: time }
const keyOptions = {
  name: text,
  limits: { type: 'object' },
  limitsAreManaged: { type: 'boolean', description: 'The key’s owner cannot change its limits.' },
  teamId: text,
  tags: list(text),
  expiresAt: time,
  suspendedAt: time,
  previousUntil: { ...time, description: 'End of the overlap of its last rotation.' },
}

/** Schemas of the routes of administration. */
export const ADMIN_SCHEMAS = {
  NewPerson: described(newPersonFields),
  PersonChange: described(personFields),
  Person: object(person),
  ListedPerson: object({
    ...person,
    ...figures,
    teams: list(object({ id: text, name: text, role: text })),
    keys: count,
    lastUsedAt: nullable('string'),
  }),
  PersonList: object({ data: list(ref('ListedPerson')), has_more: { type: 'boolean' } }),
  NewTeam: described(newTeamFields),
  TeamChange: described(teamFields),
  Team: object(team),
  ListedTeam: object(
    { ...team, ...figures, keys: count, lastUsedAt: nullable('string') },
    { members: list(object({ id: text, name: nullable('string'), role: text, source: text })) },
  ),
  TeamList: object({ data: list(ref('ListedTeam')), has_more: { type: 'boolean' } }),
  MemberRole: described(memberFields),
  NewManagedKey: described(managedKeyFields),
  ManagedKeyChange: described(managedKeyChangeFields),
  KeyRotation: described(rotationFields),
  ManagedKey: object(key, keyOptions),
  KeyWithSecret: object({ ...key, key: { ...text, description: 'The key itself, shown only once.' } }, keyOptions),
  ListedManagedKey: object(
    {
      ...key,
      ...figures,
      personId: text,
      personName: nullable('string'),
      teamName: nullable('string'),
      createdBy: nullable('string'),
      lastUsedAt: nullable('string'),
      revokedAt: nullable('string'),
    },
    keyOptions,
  ),
  ManagedKeyList: object({ data: list(ref('ListedManagedKey')), has_more: { type: 'boolean' } }),
  TagChange: described(tagFields),
  Tag: object({ name: text, limits }),
  TagList: object({
    data: list(object({ name: text, limits, createdAt: time, ...figures })),
    has_more: { type: 'boolean' },
  }),
  AuditList: object({
    data: list(
      object({
        id: text,
        at: time,
        accountId: text,
        actor: text,
        action: text,
        subject: text,
        details: { type: 'object' },
      }),
    ),
    has_more: { type: 'boolean' },
  }),
} as const
