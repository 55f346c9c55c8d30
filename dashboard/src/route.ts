import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

/** Current route: the part of the address behind `#`. */
export interface Route {
  /** `''` for the first page. */
  readonly page: string
  /** Part behind the page's name. */
  readonly id: string
  readonly query: URLSearchParams
}

/** Parses a hash such as `#/request/rcpt_…` or `#/requests?text=opus`. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [page = '', ...rest] = path.split('/')
  return { page, id: decoded(rest.join('/')), query: new URLSearchParams(search) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the current route; a change renders the page again. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => {
      followed = location.hash
      setHash(location.hash)
    }
    addEventListener('hashchange', follow)
    // It may have changed since the first rendering.
    follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return parseRoute(hash)
}

/** Calls `follow` with the query of each address of this page that is navigated to while the page is shown. */
export function useNavigation(page: string, follow: (query: URLSearchParams) => void): void {
  useEffect(() => {
    const onChange = () => {
      const route = parseRoute(location.hash)
      if (route.page === page) follow(route.query)
    }
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [page])
}

/** Address that the pages know: a later one has been navigated to, and its event is still to come. */
let followed = ''

/**
 * Writes the filter of a page into its address when it changes, so that it can be shared, without an entry in the history;
 * not over an address that has just been navigated to. In the turn that draws the page: later, the filter of an older
 * address could replace the one that has been navigated to since.
 */
export function useQueryInAddress(page: string, query: Readonly<Record<string, string | undefined>>): void {
  useLayoutEffect(() => {
    if (location.hash !== followed) return
    const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
    const search = new URLSearchParams(given).toString()
    history.replaceState(null, '', `#/${page}${search === '' ? '' : `?${search}`}`)
    followed = location.hash
  }, [page, query])
}
