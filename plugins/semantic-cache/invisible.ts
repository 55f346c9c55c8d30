/**
 * Characters without a shape of their own: control and format characters (zero-width ones, tags, directions), variation
 * selectors, private use, unassigned code points and halves of surrogate pairs. Tabs and line ends are white space.
 */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}/u

/**
 * Reports a text that holds what a reader does not see and a model may obey: characters without a shape, and letters in
 * pieces that look like composed ones but are other bytes. Such a text would be taken for the clean one, and its answer
 * given to other callers.
 */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text) || text.normalize('NFC') !== text
}
