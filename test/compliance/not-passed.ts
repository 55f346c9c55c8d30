/** Tests of the suite that the gateway does not pass, with the reason; for every kind of provider the same. None at present. */
export const NOT_PASSED: Readonly<Record<string, string>> = {}
