import { useEffect, useState } from 'preact/hooks'

const KEY = 'turnpike-theme'
const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const
const SIGNS = { auto: '◐', light: '☀', dark: '☾' } as const

type Theme = keyof typeof NEXT

function stored(): Theme {
  const found = localStorage.getItem(KEY)
  return found === 'light' || found === 'dark' ? found : 'auto'
}

/** Event of a changed theme, for charts that draw with its colours. */
export const THEME_EVENT = 'turnpike-theme'

/** Button that switches between the system's theme, light and dark. */
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
      aria-label={`Theme: ${theme === 'auto' ? 'system' : theme}`}
      onClick={() => setTheme(NEXT[theme])}
    >
      <span aria-hidden="true">{SIGNS[theme]}</span>
    </button>
  )
}
