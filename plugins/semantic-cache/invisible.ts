/**
 * Characters without a shape of their own: control and format characters (zero-width ones, tags, directions), variation
 * selectors, private use, unassigned code points and halves of surrogate pairs. Tabs and line ends are white space.
 */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}/u

/**
 * Whether a text holds what a reader does not see and a model may obey. The guard does not read it either, so that such a
 * text would be taken for the clean one, and its answer given to others.
 */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text)
}
