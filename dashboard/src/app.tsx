import './app.css'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, call } from './api.ts'
import { visible } from './format.ts'
import { lazyPage, type PageComponent } from './lazy-page.tsx'
import { LivePage } from './pages/live.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { RequestsPage } from './pages/requests.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { Busy, Empty, Failure } from './parts/states.tsx'
import { ThemeButton } from './parts/theme.tsx'
import { type Route, useRoute } from './route.ts'
import { SessionContext, type SessionFacts } from './session.tsx'
import { SIGNED_OUT, useData } from './use-data.ts'

interface Page {
  readonly name: string
  readonly title: string
  readonly Page: PageComponent
  /** Limits the page to operators. */
  readonly isOperators?: true
  /** Limits the page to users of cloud mode that see more than their own. */
  readonly isManagers?: true
}

/** Pages in the order of the menu; scripts of those that few visits need are loaded with the page. */
const PAGES: readonly Page[] = [
  { name: '', title: 'Overview', Page: OverviewPage },
  { name: 'live', title: 'Live', Page: LivePage },
  { name: 'requests', title: 'Requests', Page: RequestsPage },
  {
    name: 'conversations',
    title: 'Conversations',
    Page: lazyPage(async () => (await import('./pages/conversations.tsx')).ConversationsPage),
  },
  {
    name: 'playground',
    title: 'Playground',
    Page: lazyPage(async () => (await import('./pages/playground/playground.tsx')).PlaygroundPage),
  },
  {
    name: 'plugins',
    title: 'Plugins',
    Page: lazyPage(async () => (await import('./pages/plugins/plugins.tsx')).PluginsPage),
  },
  { name: 'keys', title: 'Keys', Page: lazyPage(async () => (await import('./pages/keys.tsx')).KeysPage) },
  {
    name: 'people',
    title: 'People',
    Page: lazyPage(async () => (await import('./pages/people/people.tsx')).PeoplePage),
    isManagers: true,
  },
  {
    name: 'billing',
    title: 'Billing',
    Page: lazyPage(async () => (await import('./pages/billing.tsx')).BillingPage),
  },
  {
    name: 'agents',
    title: 'Agent ledger',
    Page: lazyPage(async () => (await import('./pages/agents.tsx')).AgentsPage),
    isOperators: true,
  },
  {
    name: 'alerts',
    title: 'Alerts',
    Page: lazyPage(async () => (await import('./pages/alerts.tsx')).AlertsPage),
    isOperators: true,
  },
  {
    name: 'settings',
    title: 'Settings',
    Page: lazyPage(async () => (await import('./pages/settings/settings.tsx')).SettingsPage),
    isOperators: true,
  },
]

/** Pages without a menu entry, and the page whose entry is marked as theirs. */
const INNER: readonly (Page & { readonly home: string })[] = [
  {
    name: 'start',
    title: 'Start',
    Page: lazyPage(async () => (await import('./pages/start.tsx')).StartPage),
    home: '',
  },
  {
    name: 'request',
    title: 'Request',
    Page: lazyPage(async () => (await import('./pages/request.tsx')).RequestPage),
    home: 'requests',
  },
  {
    name: 'conversation',
    title: 'Conversation',
    Page: lazyPage(async () => (await import('./pages/conversation/conversation.tsx')).ConversationPage),
    home: 'conversations',
  },
  {
    name: 'device',
    title: 'Sign in a command line',
    Page: lazyPage(async () => (await import('./pages/device.tsx')).DevicePage),
    home: 'device',
  },
  {
    name: 'sessions',
    title: 'Your sessions',
    Page: lazyPage(async () => (await import('./pages/sessions.tsx')).SessionsPage),
    home: 'sessions',
  },
  { name: 'sign-in', title: 'Overview', Page: OverviewPage, home: '' },
]

export function App() {
  const route = useRoute()
  const { data: session, error, isBusy, reload } = useData<SessionFacts>('/dashboard/api/session')
  const isOut = error instanceof ApiError && error.status === 401
  useEffect(() => {
    if (isOut) return
    addEventListener(SIGNED_OUT, reload)
    return () => removeEventListener(SIGNED_OUT, reload)
  }, [isOut, reload])
  if (session === undefined && isBusy) return <Busy what="the dashboard" />
  if (isOut || route.page === 'first-operator') return <SignInPage route={route} onDone={reload} />
  if (session === undefined) return <Failure error={error ?? new Error('No response.')} onRetry={reload} />
  return (
    <SessionContext.Provider value={session}>
      <button type="button" class="skip" onClick={focusMain}>
        Skip to the page
      </button>
      <Menu route={route} session={session} onSignOut={reload} />
      <Main route={route} session={session} />
    </SessionContext.Provider>
  )
}

/** Moves the focus to the main part; a link could not, since the hash is the route's. */
function focusMain(): void {
  document.getElementById('main')?.focus()
}

function Menu({ route, session, onSignOut }: { route: Route; session: SessionFacts; onSignOut: () => void }) {
  const here = INNER.find(({ name }) => name === route.page)?.home ?? route.page
  const signOut = async () => {
    const reply = await call<{ url: string } | undefined>('/dashboard/api/session', { method: 'DELETE' })
    // The identity provider ends its own session, and returns here.
    if (reply !== undefined) location.assign(reply.url)
    else onSignOut()
  }
  return (
    <header class="menu">
      <a class="brand" href="#/">
        <span class="mark" aria-hidden="true" />
        Turnpike
      </a>
      <nav aria-label="Pages">
        {PAGES.filter((page) => isListed(page, session)).map(({ name, title }) => (
          <a key={name} href={`#/${name}`} aria-current={name === here ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="corner">
        <Who session={session} />
        <ThemeButton />
        {session.mode === 'cloud' && (
          <button type="button" class="quiet small" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
    </header>
  )
}

/** Returns whether the menu has a page for this session. */
function isListed({ isOperators, isManagers }: Page, { isOperator, mode, role }: SessionFacts): boolean {
  if (isManagers) return mode === 'cloud' && role !== 'member'
  return !isOperators || isOperator
}

/** The user, as a link to the user's sessions where the gateway has them. */
function Who({ session: { userId, userName, has } }: { session: SessionFacts }) {
  if (userId === null) return <span class="who">local mode</span>
  if (!has.sessions)
    return (
      <span class="who" title={userId}>
        {visible(userName ?? userId)}
      </span>
    )
  return (
    <a class="who" href="#/sessions" title={`Your sessions (${userId})`}>
      {visible(userName ?? userId)}
    </a>
  )
}

function Main({ route, session }: { route: Route; session: SessionFacts }) {
  const found = [...PAGES, ...INNER].find(({ name }) => name === route.page)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const title = found?.title ?? 'Nothing here'
  // Scroll to the top of the new page after a link.
  useEffect(() => {
    document.title = `${title} · Turnpike`
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
    scrollTo(0, 0)
  }, [route.page, route.id])
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {found === undefined ? (
        <Empty title="Page not found">
          <p>
            <a href="#/">Go to the overview</a>
          </p>
        </Empty>
      ) : !session.has.telemetry && NEED_TELEMETRY.has(found.name) ? (
        <Empty title="Telemetry is off">
          <p>
            <code>telemetry.enabled</code> is off in the configuration, so this page has no data.
          </p>
        </Empty>
      ) : (
        <found.Page route={route} />
      )}
    </main>
  )
}

const NEED_TELEMETRY = new Set(['', 'live', 'requests', 'request', 'conversations', 'conversation'])
