/** Failure of the operator's detector; its message holds no text of a request. */
export class DetectorFailure extends Error {}
