/**
 * Returns options of an LRU cache of at most `most` entries that allocates as it fills. Its option `max` allocates for
 * all of them at once: 24 bytes each, in every process that starts.
 */
export function entryLimit(most: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: most, sizeCalculation: () => 1 }
}
