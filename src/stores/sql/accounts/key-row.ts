/**
 * Selects all that a request needs of a key, in one statement of either engine: the key, its account, its team, and every
 * tag that has limits, a line each. Complete it with a condition on `k.hash` and `k.previous_hash`.
 */
export const SELECT_KEY_IN_USE = `select k.id as "id", k.hash as "hash", k.account_id as "accountId",
  k.pipeline_config as "pipelineConfig", k.limits as "limits", k.tags as "tags", k.revoked_at_ms as "revokedAtMs",
  k.suspended_at_ms as "keySuspendedAtMs", k.expires_at_ms as "expiresAtMs", k.previous_until_ms as "previousUntilMs",
  a.tier as "tier", a.suspended_at_ms as "suspendedAtMs", a.limits as "personLimits",
  k.team_id as "teamId", t.limits as "teamLimits",
  (select string_agg(name || ' ' || limits, '\n') from tag where limits is not null) as "tagLimits"
  from api_key k join account a on a.id = k.account_id left join team t on t.id = k.team_id`
