import './facts.css'
import type { ComponentChildren } from 'preact'

/** Figure with its name. */
export function Card({ title, value, note }: { title: string; value: string; note: string }) {
  return (
    <div class="card">
      <h2>{title}</h2>
      <p class="value">{value}</p>
      <p class="note">{note}</p>
    </div>
  )
}

/** Entry of a list of facts; a wide one has its own line. */
export function Fact({
  name,
  isWide = false,
  children,
}: {
  name: string
  isWide?: boolean
  children: ComponentChildren
}) {
  return (
    <div class={isWide ? 'wide' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
