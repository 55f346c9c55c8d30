import { MOST_IN_ONE_LIST } from './query.ts'

/** Reads a page of a list: the rows after one, or the first; at most `limit`. */
export type ReadPage<Row> = (after: Row | undefined, limit: number) => Promise<readonly Row[]>

/** Reads a list page by page, each when the one before was consumed, until a page is not full. */
export async function* pages<Row>(read: ReadPage<Row>): AsyncGenerator<readonly Row[]> {
  let after: Row | undefined
  for (;;) {
    const page = await read(after, MOST_IN_ONE_LIST)
    after = page.at(-1)
    if (after !== undefined) yield page
    if (after === undefined || page.length < MOST_IN_ONE_LIST) return
  }
}
