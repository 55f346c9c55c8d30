import { InvalidArgumentError } from 'commander'

/** Creates a parser for an option that takes a whole number from 1 to `most`. It throws `InvalidArgumentError`. */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (Number.isInteger(count) && count >= 1 && count <= most) return count
    throw new InvalidArgumentError(`expected a whole number from 1 to ${most}`)
  }
}
