import { counts, texts } from '../engine/columns.ts'

/** The tables of receipts and of their ledger. */
export interface ReceiptTables {
  receipt: ReceiptTable
  receipt_log: ReceiptLogTable
  receipt_head: ReceiptHeadTable
  receipt_node: ReceiptNodeTable
}

/** Receipts of finished requests, as JSON. Old ones are deleted; their leaves stay. */
export interface ReceiptTable {
  id: string
  scope: string
  created_at_ms: number
  /** Canonical JSON; of version 1 with its signature. */
  json: string
  /** Place in the ledger; `null` for version 1. */
  leaf_index: number | null
}

/** The name of the ledger: one row. */
export interface ReceiptLogTable {
  origin: string
  created_at_ms: number
}

/** Signed heads, one for each batch. The primary key is the size before, so that a size has one successor. */
export interface ReceiptHeadTable {
  first_leaf: number
  checkpoint: string
  /** JSON of the batch's leaves: pairs of receipt id and base64 SHA-256 of its canonical JSON. */
  leaves: string
}

/** Roots of complete subtrees at every fourth level above the leaves, so that a proof reads few rows. */
export interface ReceiptNodeTable {
  level: number
  node_index: number
  /** Base64. */
  hash: string
}

/** Creates the tables of receipts and of their ledger: its name, signed heads with their leaves, inner nodes. */
export const RECEIPT_TABLES_SQL = `
create table receipt (
  id text primary key not null,
  scope text not null,
  created_at_ms bigint not null,
  json text not null,
  leaf_index bigint
);
create index receipt_by_scope on receipt (scope, created_at_ms, id);
create table receipt_log (
  origin text primary key not null,
  ${counts('created_at_ms')}
);
create table receipt_head (
  first_leaf bigint primary key not null,
  ${texts('checkpoint', 'leaves')}
);
create table receipt_node (
  ${counts('level', 'node_index')},
  hash text not null,
  constraint receipt_node_key primary key (level, node_index)
);
`
