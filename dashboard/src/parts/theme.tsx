import { useEffect, useState } from 'preact/hooks'

const KEY = 'turnpike-theme'
const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const
const SIGNS = { auto: '◐', light: '☀', dark: '☾' } as const

type Theme = keyof typeof NEXT

function stored(): Theme {
  const found = localStorage.getItem(KEY)
  return found === 'light' || found === 'dark' ? found : 'auto'
}

/** Told when colours have changed, to those who draw with them: charts. */
export const THEME_EVENT = 'turnpike-theme'

/** Switches between the system's theme, light and dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(stored)
  useEffect(() => {
    document.documentElement.dataset.theme = theme
    if (theme === 'auto') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
    dispatchEvent(new Event(THEME_EVENT))
  }, [theme])
  return (
    <button
      type="button"
      class="quiet small"
      title="Switch between light and dark"
      aria-label={`Theme: ${theme === 'auto' ? 'as the system' : theme}`}
      onClick={() => setTheme(NEXT[theme])}
    >
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  )
}
