import type { Form } from './form.ts'
import { missing } from './refusal.ts'

/** An object in an answer of Stripe's API. */
export interface StripeObject {
  id: string
  object: string
  [member: string]: unknown
}

/** Behaviour of a card when it is charged. */
export type Card = 'good' | 'declined' | 'asks-owner' | 'slow'

/** Reads a member as text; objects of the stand-in always have it. */
export function textOf(object: StripeObject, member: string): string {
  return String(object[member])
}

/** All objects of the account, by kind; ids count up from 1. */
export class Objects {
  readonly #kinds = new Map<string, Map<string, StripeObject>>()
  #count = 0

  nextId(prefix: string): string {
    return `${prefix}_${String(++this.#count).padStart(6, '0')}`
  }

  add(object: StripeObject): StripeObject {
    const kind = this.#kinds.get(object.object) ?? new Map<string, StripeObject>()
    this.#kinds.set(object.object, kind.set(object.id, object))
    return object
  }

  /** Returns an object. Throws `Refusal`. */
  get(kind: string, id: string): StripeObject {
    const found = this.#kinds.get(kind)?.get(id)
    if (found === undefined) throw missing(kind, id)
    return found
  }

  /** Lists objects newest first, as Stripe does. */
  all(kind: string): StripeObject[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])].reverse()
  }
}

/** Builds one page of a list as Stripe answers it. */
export function toPage(items: readonly StripeObject[], { limit = '10', starting_after: after }: Form): unknown {
  const from = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1
  const data = items.slice(from, from + Number(limit))
  return { object: 'list', data, has_more: from + data.length < items.length, url: '/v1/list' }
}
