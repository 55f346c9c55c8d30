/** Thrown for valid JSON that is not accepted as a model request. `position` is the byte offset of the member or value. */
export class BodyFault extends Error {
  readonly reason: string
  readonly position: number

  constructor(reason: string, position: number) {
    super(reason)
    this.reason = reason
    this.position = position
  }
}
