import './snippet.css'
import { Copy } from './copy.tsx'

/** Lines that configure clients for this gateway. */
export function ClientLines({ apiKey }: { apiKey: string }) {
  return (
    <div class="client-lines">
      {linesFor(location.origin, apiKey).map(([client, text]) => (
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

function linesFor(origin: string, apiKey: string): readonly (readonly [client: string, text: string])[] {
  return [
    ['Claude Code', `ANTHROPIC_BASE_URL=${origin} ANTHROPIC_API_KEY=${apiKey} claude`],
    ['Codex', `turnpike codex --write --url ${origin} && TURNPIKE_KEY=${apiKey} codex --profile turnpike`],
    ['Anthropic’s SDKs, and other agents', `export ANTHROPIC_BASE_URL=${origin} ANTHROPIC_API_KEY=${apiKey}`],
    ['OpenAI’s SDKs', `export OPENAI_BASE_URL=${origin}/v1 OPENAI_API_KEY=${apiKey}`],
  ]
}
