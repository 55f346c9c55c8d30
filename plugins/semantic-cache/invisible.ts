/**
 * Matches characters without a shape: control and format characters (zero-width ones, tags, directions), variation
 * selectors, private use, unassigned code points and lone surrogates. Tabs and line ends are white space.
 */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}/u

/**
 * Tests for text that a reader does not see but a model may obey: characters without a shape, and decomposed letters
 * that look like composed ones but are other bytes. Such a text would match the clean one, and its answer would be
 * served to other callers.
 */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text) || text.normalize('NFC') !== text
}
