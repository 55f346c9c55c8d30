/** Prints the events of one stream, numbered from 0. */
export class EventPrinter {
  #next = 0

  /** Prints an event; `members` are its further members as JSON, without braces. */
  print(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next++},${members}}\n\n`
  }
}
