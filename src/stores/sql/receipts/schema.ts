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
