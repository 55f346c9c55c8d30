import './snippet.css'
import { useSession } from '../session.tsx'
import { Copy } from './copy.tsx'

const BODY = { model: 'demo/echo', max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }] }

/** Command to paste that sends a first request. */
export function FirstRequest() {
  const { mode } = useSession()
  const key = mode === 'local' ? 'any' : 'svc_live_…'
  const text = `curl ${location.origin}/v1/messages -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${JSON.stringify(BODY)}'`
  return (
    <div class="snippet">
      <pre>{text}</pre>
      <Copy text={text} />
    </div>
  )
}
