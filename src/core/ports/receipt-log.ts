import type { ReceiptProof, StoredReceipt } from '../telemetry/receipt.ts'

/** State of the ledger. */
export interface LogState {
  /** Name of the ledger, in each of its checkpoints. */
  readonly origin: string
  /** Time of the migration that made the ledger, in milliseconds since 1970. */
  readonly createdAtMs: number
  /** The latest signed tree head; `undefined` while the ledger is empty. */
  readonly checkpoint: string | undefined
}

/** Proof that a leaf is in the tree of the latest head. */
export interface LeafProof extends ReceiptProof {
  /** Hash of the leaf, base64. */
  readonly leaf_hash: string
}

/** Proof that a tree is a prefix of the tree of the latest head. */
export interface PrefixProof {
  /** The consistency proof (RFC 9162), base64. */
  readonly hashes: readonly string[]
  readonly checkpoint: string
}

/** The ledger, for anyone who checks it. Every method rejects with `service_unavailable` while the store fails. */
export interface ReceiptLog {
  state(): Promise<LogState>
  /** Proves a leaf by its index; `undefined` beyond the latest head. */
  inclusion(index: number): Promise<LeafProof | undefined>
  /** Proves that the tree of the first `size` leaves is a prefix; `undefined` beyond the latest head. */
  consistency(size: number): Promise<PrefixProof | undefined>
}

/** One signed head with the leaves that it added. */
export interface LogHead {
  /** Number of leaves before. */
  readonly firstLeaf: number
  readonly checkpoint: string
  /** `undefined` for a text that is no list of leaves. */
  readonly leaves: readonly LoggedLeaf[] | undefined
}

/** A leaf as it is stored: kept when its receipt is deleted. */
export interface LoggedLeaf {
  /** Id of the receipt. */
  readonly id: string
  /** SHA-256 of the receipt's canonical JSON, base64. */
  readonly content: string
}

/** A stored receipt with its place in the ledger; `null` for version 1. */
export interface LoggedReceipt extends StoredReceipt {
  readonly leafIndex: number | null
}

/** Id and place of a stored receipt. */
export interface StoredPlace {
  readonly id: string
  /** `null` for version 1. */
  readonly leafIndex: number | null
  /** The receipt, if it is of version 1. */
  readonly json: string | null
}

/** The whole content of the ledger, page by page. */
export interface LogContent extends Pick<ReceiptLog, 'state'> {
  /** Lists heads in order, from the one with this first leaf on; a bounded number. */
  heads(fromLeaf: number): Promise<readonly LogHead[]>
  /** Returns the stored ones of these receipts. */
  receipts(ids: readonly string[]): Promise<readonly LoggedReceipt[]>
  /** Lists stored receipts by id, those of version 1 with their JSON; a bounded number. */
  stored(afterId: string): Promise<readonly StoredPlace[]>
}
