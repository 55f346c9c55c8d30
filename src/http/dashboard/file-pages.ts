import type { Context } from 'koa'
import { MOST_IN_ONE_LIST } from './query.ts'
import { assertSeesAsBefore, type ReadViewer, type Viewer } from './viewer.ts'

/** Reads a page of a list: the rows after one, or the first; at most `limit`. */
export type ReadPage<Row> = (after: Row | undefined, limit: number) => Promise<readonly Row[]>

/** The viewer of a file, who is read again for each of its pages. */
export interface FileViewer {
  readonly ctx: Context
  /** The viewer when the file began, for whom its pages are read. */
  readonly user: Viewer
  readonly viewer: ReadViewer
}

/**
 * Reads a list page by page, each when the one before was consumed, until a page is not full. A client may take hours: a page
 * counts only while its viewer has a session and sees what was seen at the beginning. Throws `permission_error`, and as
 * `ReadViewer` does.
 */
export async function* pages<Row>(
  { ctx, user, viewer }: FileViewer,
  read: ReadPage<Row>,
): AsyncGenerator<readonly Row[]> {
  let after: Row | undefined
  for (;;) {
    const page = await read(after, MOST_IN_ONE_LIST)
    after = page.at(-1)
    if (after === undefined) return
    assertSeesAsBefore(await viewer(ctx), user)
    yield page
    if (page.length < MOST_IN_ONE_LIST) return
  }
}
