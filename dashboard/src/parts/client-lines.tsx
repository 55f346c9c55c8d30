import './snippet.css'
import { Copy } from './copy.tsx'

/** Lines that configure clients for this gateway. */
export function ClientLines({ apiKey }: { apiKey: string }) {
  const { origin } = location
  const lines = [
    ['A coding agent', `export ANTHROPIC_BASE_URL=${origin} ANTHROPIC_API_KEY=${apiKey}`],
    ['An OpenAI client', `export OPENAI_BASE_URL=${origin}/v1 OPENAI_API_KEY=${apiKey}`],
  ] as const
  return (
    <div class="client-lines">
      {lines.map(([client, text]) => (
        <div key={client} class="snippet">
          <div>
            <span class="muted">{client}</span>
            <pre>{text}</pre>
          </div>
          <Copy text={text} />
        </div>
      ))}
    </div>
  )
}
