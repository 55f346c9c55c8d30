import { type Checkpoint, CheckpointError, parseCheckpoint, signerOf } from '../../core/ledger/checkpoint.ts'
import { TreeEdge } from '../../core/ledger/merkle.ts'
import { contentHash, hashOfLeaf } from '../../core/ledger/receipt-leaf.ts'
import type { LogContent, LoggedLeaf, LogHead, LogState, StoredPlace } from '../../core/ports/receipt-log.ts'
import type { PublicReceiptKey } from '../receipts/public-key.ts'
import { isBelow, isOwnRow, signedAlone } from './stored-rows.ts'

/**
 * DESIGN — walking the ledger
 *
 * One pass over the heads in order rebuilds the tree from the stored leaves. A head is consistent with the one before when
 * it begins at that one's size, and has the root of the leaves so far: a rewritten, dropped or reordered leaf changes the
 * root of its own head and of all later ones. Each leaf's receipt is hashed again, unless it is old enough to be deleted.
 * A leaf covers its id, so no receipt becomes older. The id, scope and time of a row are those of its receipt.
 * Heads that an auditor has kept are compared with the root at their size. Memory does not grow with the ledger.
 */

/** Input of a walk. */
export interface LedgerCheck {
  readonly content: LogContent
  /** Keys that may sign heads and receipts. */
  readonly keys: readonly PublicReceiptKey[]
  /** Checkpoints kept from before. */
  readonly kept: readonly Checkpoint[]
  /** Returns the id below which receipts may be deleted now. */
  readonly oldestId: () => string
}

/** Result of a walk. */
export interface LedgerReport {
  readonly isValid: boolean
  readonly origin: string
  readonly heads: number
  readonly leaves: number
  /** Receipts of version 2 that are stored, with the content of their leaf. */
  readonly receipts: number
  /** Leaves whose receipts are old enough to be deleted, and are. */
  readonly deleted: number
  /** Receipts with a signature of their own. */
  readonly signed: number
  /** The first of them, at most 20. */
  readonly faults: readonly string[]
  readonly faultCount: number
}

const MOST_FAULTS = 20
/** Receipts a query. */
const MOST_IDS = 200
/** Time in which instances of the release before may still write receipts of version 1, while others are updated. */
const MOST_OVERLAP_MS = 3_600_000

/** Walks the ledger. Throws `service_unavailable`. */
export async function verifyLedger(check: LedgerCheck): Promise<LedgerReport> {
  const walk = new Walk(check, await check.content.state())
  for (let fromLeaf = 0; ; ) {
    const heads = await check.content.heads(fromLeaf)
    for (const head of heads) await walk.addHead(head)
    const last = heads.at(-1)
    if (last === undefined) break
    fromLeaf = last.firstLeaf + 1
  }
  await walk.finish()
  return walk.report()
}

class Walk {
  readonly #check: LedgerCheck
  readonly #origin: string
  readonly #createdAtMs: number
  readonly #edge = new TreeEdge()
  readonly #faults: string[] = []
  readonly #waiting: { readonly leaf: LoggedLeaf; readonly index: number }[] = []
  /** Kept heads that the walk has not reached, the smallest first. */
  readonly #kept: Checkpoint[]
  #faultCount = 0
  /** True after the first head that does not follow from the leaves: later ones cannot. */
  #isBroken = false
  #heads = 0
  #receipts = 0
  #deleted = 0
  #signed = 0

  constructor(check: LedgerCheck, { origin, createdAtMs }: LogState) {
    this.#check = check
    this.#origin = origin
    this.#createdAtMs = createdAtMs
    this.#kept = check.kept.toSorted((a, b) => a.size - b.size)
    for (const { origin: other } of this.#kept)
      if (other !== origin) this.#fault(`The kept head is of another ledger, ${other}.`)
    this.#compareKept()
  }

  get size(): number {
    return this.#edge.size
  }

  async addHead({ firstLeaf, checkpoint, leaves }: LogHead): Promise<void> {
    if (firstLeaf !== this.size && !this.#isBroken) {
      this.#fault(`A head was dropped or inserted: the head after leaf ${this.size} begins at leaf ${firstLeaf}.`)
      this.#isBroken = true
    }
    if (leaves === undefined) this.#fault(`The leaves of the head after leaf ${this.size} are no leaves.`)
    for (const [i, leaf] of leaves?.entries() ?? []) {
      this.#waiting.push({ leaf, index: firstLeaf + i })
      this.#edge.append(hashOfLeaf(leaf))
      this.#compareKept()
    }
    this.#heads++
    this.#checkHead(checkpoint)
    if (this.#waiting.length >= MOST_IDS) await this.#checkReceipts()
  }

  async finish(): Promise<void> {
    await this.#checkReceipts()
    for (const { size } of this.#kept)
      this.#fault(`The ledger has ${this.size} receipts, and the kept head ${size}: its end was cut off.`)
    await this.#checkStored()
  }

  report(): LedgerReport {
    return {
      isValid: this.#faultCount === 0,
      origin: this.#origin,
      heads: this.#heads,
      leaves: this.size,
      receipts: this.#receipts,
      deleted: this.#deleted,
      signed: this.#signed,
      faults: this.#faults,
      faultCount: this.#faultCount,
    }
  }

  #fault(words: string): void {
    this.#faultCount++
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(words)
  }

  #checkHead(text: string): void {
    const head = parse(text)
    const name = `The head of ${this.size} receipts`
    if (head === undefined) return void this.#fault(`${name} is not a signed checkpoint.`)
    if (head.origin !== this.#origin) this.#fault(`${name} is of another ledger, ${head.origin}.`)
    this.#checkRoot(head)
    if (signerOf(head, this.#check.keys) === undefined) this.#fault(`${name} is not signed by a given key.`)
  }

  #checkRoot({ size, root }: Checkpoint): void {
    if (this.#isBroken || (size === this.size && root.equals(this.#edge.root()))) return
    this.#fault(`The head of ${size} receipts is not that of the leaves: some were dropped, reordered or rewritten.`)
    this.#isBroken = true
  }

  /** Compares the tree with the kept heads of its size. */
  #compareKept(): void {
    for (let next = this.#kept[0]; next !== undefined && next.size === this.size; next = this.#kept[0]) {
      this.#kept.shift()
      if (!next.root.equals(this.#edge.root()))
        this.#fault(`The first ${next.size} receipts are not those of the kept head: the ledger was rewritten.`)
    }
  }

  async #checkReceipts(): Promise<void> {
    const leaves = this.#waiting.splice(0)
    for (let start = 0; start < leaves.length; start += MOST_IDS) {
      const part = leaves.slice(start, start + MOST_IDS)
      const rows = await this.#check.content.receipts(part.map(({ leaf }) => leaf.id))
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { leaf, index } of part) {
        const row = byId.get(leaf.id)
        if (row === undefined) this.#checkDeleted(leaf, index)
        else if (row.leafIndex !== index) this.#fault(`The receipt ${row.id} is not stored as leaf ${index}.`)
        else if (contentHash(row.json) !== leaf.content)
          this.#fault(`The receipt ${row.id} was rewritten: it is not leaf ${index}.`)
        else if (!isOwnRow(row))
          this.#fault(`The receipt ${row.id} is stored with another id, scope or time than its own.`)
        else this.#receipts++
      }
    }
  }

  #checkDeleted({ id }: LoggedLeaf, index: number): void {
    if (id < this.#check.oldestId()) this.#deleted++
    else this.#fault(`The receipt ${id}, leaf ${index}, was deleted before its time.`)
  }

  /** Checks that no other receipts are stored: each is a leaf that was found, or has a signature of its own. */
  async #checkStored(): Promise<void> {
    let stored = 0
    for (let after = ''; ; ) {
      const page = await this.#check.content.stored(after)
      const size = page.some(({ leafIndex }) => leafIndex !== null && !(leafIndex < this.size))
        ? await this.#sizeNow()
        : this.size
      for (const place of page) {
        if (place.leafIndex === null) this.#checkSigned(place)
        else if (!isBelow(place.leafIndex, size))
          this.#fault(`The receipt ${place.id} is stored as a leaf that the ledger does not have.`)
        // Later ones were appended during the walk.
        else if (place.leafIndex < this.size) stored++
      }
      const last = page.at(-1)
      if (last === undefined) break
      after = last.id
    }
    const others = stored - this.#receipts
    if (others > 0) this.#fault(`${others} stored receipts are not the ones of their leaves.`)
  }

  async #sizeNow(): Promise<number> {
    const { checkpoint } = await this.#check.content.state()
    return checkpoint === undefined ? 0 : (parse(checkpoint)?.size ?? this.size)
  }

  #checkSigned({ id, json }: StoredPlace): void {
    const receipt = signedAlone(json ?? '', this.#check.keys)
    if (receipt?.id !== id) this.#fault(`The receipt ${id} is in no ledger, and has no valid signature of its own.`)
    else if (Date.parse(receipt.created_at) > this.#createdAtMs + MOST_OVERLAP_MS)
      this.#fault(`The receipt ${id} is in no ledger, and was signed after the ledger began.`)
    else this.#signed++
  }
}

function parse(text: string): Checkpoint | undefined {
  try {
    return parseCheckpoint(text)
  } catch (error) {
    if (error instanceof CheckpointError) return undefined
    throw error
  }
}
