import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const PAGES = ['料金表', '会社概要', 'お問い合わせ', '採用情報', '製品一覧']
const ITEMS = ['送信する', '次へ', '閉じる', 'もっと見る', '検索', 'ログイン']

const snapshot = (random: Random, count: number) =>
  `- ページ: ${random.pick(PAGES)}\n${Array.from({ length: count }, (_, index) => `  - button "${random.pick(ITEMS)}" [ref=e${index + random.int(1, 900)}]`).join('\n')}`

/** An agent that drives a browser, in Japanese. */
export const browser: World = {
  name: 'browser agent (Japanese, marked errors)',
  remarks: ['もう一度試します。', 'ページを確認します。', ''],
  texts: [['作業が完了しました。ほかにご用件はありますか。', 'ツールを使って続けてください。']],
  observation(random) {
    return { name: 'browser_snapshot', input: {}, result: snapshot(random, random.int(3, 60)) }
  },
  attempts(random) {
    const item = random.pick(ITEMS)
    return (index) => ({
      name: 'browser_select_option',
      input: { element: item, ref: `e${index * 7 + random.int(1, 6)}`, values: [random.pick(PAGES)] },
      result: '要素を操作できませんでした：ほかの要素に隠れています',
      isError: true,
    })
  },
  searches(random) {
    const result = snapshot(random, random.int(20, 40))
    return (index) => ({
      name: 'browser_navigate',
      input: { url: `https://example.jp/${random.pick(['a', 'b', 'c'])}/${'x'.repeat(index)}` },
      result,
    })
  },
  numbered(random) {
    const result = snapshot(random, random.int(6, 30))
    return (index) => ({
      name: 'browser_navigate',
      input: { url: `https://example.jp/list?page=${index + 4}` },
      result,
    })
  },
  work(random) {
    return (index) => ({
      name: random.pick(['browser_click', 'browser_navigate', 'browser_type']),
      input: { ref: `e${index * 13 + 1}`, element: random.pick(ITEMS) },
      result: snapshot(random, random.int(2, 30)),
    })
  },
  pages(random) {
    return (index) => ({
      name: 'browser_navigate',
      input: { url: `https://example.jp/news?page=${index + 1}` },
      result: snapshot(random, 25),
    })
  },
  status: (random) => ({
    name: 'browser_tabs',
    input: { action: 'list' },
    result: `- 0: (現在) ${random.pick(PAGES)}\n- 1: ${random.pick(PAGES)}\n- 2: 空のページ、読み込みは終わっています`,
  }),
  runs(random) {
    return () => ({
      name: 'browser_console_messages',
      input: {},
      result: `警告 ${random.int(1, 90_000)} 件、エラー ${random.int(1, 90_000)} 件`,
    })
  },
  poll(random) {
    const start = random.int(1, 9)
    return (index) => ({
      name: 'browser_wait_for',
      input: { time: 5 },
      result: `アップロード中… ${start + index * 4}%`,
    })
  },
  changes() {
    return (index) => ({ name: 'browser_press_key', input: { key: index % 2 === 0 ? 'Tab' : 'Tab' }, result: 'ok' })
  },
  misses(random) {
    return (index) => ({
      name: 'browser_find',
      input: { text: `${random.pick(ITEMS)}${index}` },
      result: '見つかりませんでした',
    })
  },
}
