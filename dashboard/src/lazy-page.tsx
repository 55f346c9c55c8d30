import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Busy, Failure } from './parts/states.tsx'
import type { Route } from './route.ts'

/** A page of the dashboard. */
export type PageComponent = ComponentType<{ route: Route }>

/** Creates a page whose script is loaded when the page is first shown. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | undefined
  return function LazyPage({ route }) {
    const [error, setError] = useState<Error>()
    const [, setIsLoaded] = useState(loaded !== undefined)
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (page) => {
          loaded = page
          setIsLoaded(true)
        },
        () => setError(new Error('No response from the gateway. If it was updated, load the dashboard again.')),
      )
    }, [])
    if (error !== undefined) return <Failure error={error} onRetry={() => location.reload()} />
    if (loaded === undefined) return <Busy what="the page" />
    const Page = loaded
    return <Page route={route} />
  }
}
