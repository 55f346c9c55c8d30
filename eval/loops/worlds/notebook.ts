import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const COLUMNS = ['价格', '数量', '日期', '城市', '客户', '地区']
const NAMES = ['df', 'orders', 'merged', 'pivot', 'train']

const frame = (random: Random, count: number) =>
  `   ${COLUMNS.join('  ')}\n${Array.from({ length: count }, (_, index) => `${index}  ${COLUMNS.map(() => random.int(1, 99_999)).join('  ')}`).join('\n')}`

/** A data analyst with a notebook, in Chinese. */
export const notebook: World = {
  name: 'data analyst (Chinese, tracebacks)',
  remarks: ['再试一次。', '我先看看数据。', ''],
  texts: [['分析已经完成，结果保存在报告文件里。', '请继续，直到任务结束。']],
  observation(random) {
    return {
      name: 'run_cell',
      input: { code: `${random.pick(NAMES)}.head(${random.int(3, 30)})` },
      result: frame(random, random.int(2, 25)),
    }
  },
  attempts(random) {
    const column = random.pick(COLUMNS)
    const error = `---------------------------------------------------------------------------\nKeyError                                  Traceback (most recent call last)\nFile ~/.venv/lib/pandas/core/indexes/base.py, in Index.get_loc(self, key)\nKeyError: '${column}'`
    return (index) => ({
      name: 'run_cell',
      input: {
        code: `${random.pick(NAMES)}.groupby('${column}').agg('${['sum', 'mean', 'max', 'min', 'count'][index % 5]}')${'.T'.repeat(index)}`,
      },
      result: error,
    })
  },
  searches(random) {
    const result = frame(random, random.int(8, 20))
    return (index) => ({
      name: 'run_cell',
      input: { code: `${random.pick(NAMES)}.query('${COLUMNS[index % COLUMNS.length]} > 0')` },
      result,
    })
  },
  numbered(random) {
    const result = `数据库返回：表 ${random.pick(NAMES)} 正在维护，请联系管理员处理后再来查询，错误编号 D${random.int(10, 99)}，没有返回任何行。维护窗口未公布，请勿重复提交相同的查询，以免增加服务器负担，谢谢您的理解与配合。`
    return (index) => ({
      name: 'sql',
      input: { query: `select * from sales limit 100 offset ${index * 100}` },
      result: result.repeat(1),
    })
  },
  work(random) {
    return (index) => ({
      name: random.pick(['run_cell', 'sql']),
      input: { code: `${random.pick(NAMES)}.iloc[${index * 10}:${index * 10 + random.int(1, 9)}]` },
      result: frame(random, random.int(1, 15)),
    })
  },
  pages(random) {
    return (index) => ({
      name: 'sql',
      input: { query: `select id from sales order by id limit 20 offset ${index * 20}` },
      result: JSON.stringify(
        Array.from(
          { length: 20 },
          () => `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-a${random.hex(3)}-${random.hex(12)}`,
        ),
      ),
    })
  },
  status: () => ({
    name: 'kernel_info',
    input: {},
    result: '{"内核":"python3","变量":["df","orders"],"内存":"正常","版本":"3.13"}',
  }),
  runs(random) {
    return (index) => ({
      name: 'run_cell',
      input: { code: 'model.fit(train)' },
      result: `第 ${index} 轮：损失 0.${random.int(1000, 9999)}，准确率 0.${random.int(1000, 9999)}`,
    })
  },
  poll(random) {
    const start = random.int(1, 9)
    return (index) => ({
      name: 'job_log',
      input: { job: 'train' },
      result: `epoch ${start + index}/200 loss=${(9 / (index + 2)).toFixed(4)}`,
    })
  },
  changes() {
    return (index) => ({ name: 'save_row', input: { id: index, 城市: '上海' }, result: '已保存' })
  },
  misses(random) {
    return (index) => ({
      name: 'sql',
      input: { query: `select * from ${random.pick(NAMES)} where 客户 = '客户${index}'` },
      result: '[]',
    })
  },
}
