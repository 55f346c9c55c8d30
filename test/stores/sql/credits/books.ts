/**
 * Invariants of the books, queried from the database itself: I1–I6, I10 of the ledger, and that calls and
 * overage are counted as the holds say. Each line of the answer is one that does not.
 */
export function violationsIn(accountsLike: string): string {
  const mine = (column: string) => `${column} like '${accountsLike}'`
  const entriesOf = 'from ledger_entry e where e.account_id = a.id'
  const holdsOf = 'from credit_hold h where h.account_id = a.id'
  const inWindow = 'from credit_hold h where h.account_id = w.account_id and h.window_id = w.window_id'
  const account = `from account a where ${mine('a.id')}`
  const rules: readonly (readonly [broken: string, found: string])[] = [
    [
      'I1 posted = sum of entries',
      `a.id as what ${account} and a.posted_credits <> (select coalesce(sum(e.credits), 0) ${entriesOf})`,
    ],
    ['I2 seq = count', `a.id ${account} and a.entry_seq <> (select count(*) ${entriesOf})`],
    ['I2 no gap', `a.id ${account} and a.entry_seq <> (select coalesce(max(e.seq), 0) ${entriesOf})`],
    [
      'I2 chain of posted_after',
      `e.idem from ledger_entry e where ${mine('e.account_id')} and e.posted_after_credits - e.credits <> coalesce((select p.posted_after_credits from ledger_entry p where p.account_id = e.account_id and p.seq = e.seq - 1), 0)`,
    ],
    [
      'I3 held = sum of open holds',
      `a.id ${account} and a.held_credits <> (select coalesce(sum(h.calls * h.call_credits), 0) ${holdsOf} and h.state = 'open')`,
    ],
    ['I4 0 <= held <= posted', `a.id ${account} and (a.held_credits < 0 or a.held_credits > a.posted_credits)`],
    [
      'I5 a posted hold has its entry, and only one',
      `h.id from credit_hold h where ${mine('h.account_id')} and case when h.charged_credits > 0 then 1 else 0 end <> (select count(*) from ledger_entry e where e.account_id = h.account_id and e.idem = 'hold:' || h.id and e.credits = -h.charged_credits)`,
    ],
    [
      'I5 an entry of calls has its posted hold',
      `e.idem from ledger_entry e where ${mine('e.account_id')} and e.kind = 'calls' and not exists (select 1 from credit_hold h where e.idem = 'hold:' || h.id and h.state = 'posted')`,
    ],
    [
      'I6 idem is unique',
      `e.idem from ledger_entry e where ${mine('e.account_id')} group by e.account_id, e.idem having count(*) > 1`,
    ],
    [
      'I10 charged + shortfall = used',
      `h.id from credit_hold h where ${mine('h.account_id')} and h.charged_credits + h.shortfall_credits <> h.used_calls * h.call_credits`,
    ],
    [
      'calls: held = sum of open holds',
      `w.window_id from call_window w where ${mine('w.account_id')} and w.held_calls <> (select coalesce(sum(h.calls), 0) ${inWindow} and h.state = 'open')`,
    ],
    [
      'calls: settled = sum of what was used',
      `w.window_id from call_window w where ${mine('w.account_id')} and w.settled_calls <> (select coalesce(sum(h.used_calls), 0) ${inWindow})`,
    ],
    [
      'overage: calls = used calls that cost something',
      `a.id ${account} and (select coalesce(sum(o.calls), 0) from overage_hour o where o.account_id = a.id) <> (select coalesce(sum(h.used_calls), 0) ${holdsOf} and h.call_credits > 0)`,
    ],
    [
      'overage: credits = what was charged and owed',
      `a.id ${account} and (select coalesce(sum(o.charged_credits + o.shortfall_credits), 0) from overage_hour o where o.account_id = a.id) <> (select coalesce(sum(h.charged_credits + h.shortfall_credits), 0) ${holdsOf})`,
    ],
  ]
  return rules.map(([broken, found]) => `select '${broken}' as broken, ${found}`).join(' union all ')
}
