/** A provider and a model that may answer a request. */
export interface Target {
  readonly provider: string
  readonly model: string
  /** True if a Responses request reaches it as a translation, without the tools that name models. */
  readonly translatesResponses?: true
}
