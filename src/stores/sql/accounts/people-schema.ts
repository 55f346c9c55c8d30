import type { AccountRole, MemberRole, MemberSource } from '../../../core/ports/people.ts'

/** The tables of teams, their members and tags. */
export interface PeopleTables {
  team: TeamTable
  team_member: TeamMemberTable
  tag: TagTable
}

/** Columns of a person; a person is an account. */
export interface PersonColumns {
  name: string | null
  email: string | null
  role: AccountRole
  /** JSON of the limits on all of the person's keys together; `null`: none. */
  limits: string | null
  /** Moment of a session's last request, to five minutes. */
  last_seen_at_ms: number | null
}

/** A team, whose keys share its limits. */
export interface TeamTable {
  /** `team_` and 22 characters. */
  id: string
  name: string
  /** The name in lower case, unique among all teams. */
  folded_name: string
  /** JSON of the limits on all of its keys together; `null`: none. */
  limits: string | null
  created_at_ms: number
  /** An archived team takes no members and no keys; its limits still apply to the keys that it has. */
  archived_at_ms: number | null
}

/** A person in a team. */
export interface TeamMemberTable {
  team_id: string
  account_id: string
  role: MemberRole
  source: MemberSource
}

/** A tag with limits of its own; a tag without needs no row. */
export interface TagTable {
  name: string
  /** JSON of the limits on all requests with this tag together; `null`: none. */
  limits: string | null
  created_at_ms: number
}

/** Adds the columns of a person to those of its account. */
export const PERSON_COLUMNS_SQL = `
  name text,
  email text,
  limits text,
  role text default 'member' not null check (role in ('viewer', 'member', 'operator')),
  last_seen_at_ms bigint`

/** Creates the tables of teams and tags. */
export const PEOPLE_TABLES_SQL = `
create table team (
  id text primary key not null,
  name text not null,
  folded_name text not null unique,
  limits text,
  created_at_ms bigint not null,
  archived_at_ms bigint
);
create table team_member (
  team_id text not null,
  account_id text not null,
  role text not null check (role in ('lead', 'member')),
  source text not null check (source in ('set', 'groups')),
  constraint team_member_key primary key (team_id, account_id)
);
create index team_member_by_account on team_member (account_id);
create table tag (
  name text primary key not null,
  limits text,
  created_at_ms bigint not null
);
`
