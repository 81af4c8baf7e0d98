-- Twenty queries of TPC-DS that stress windows, common table expressions and unions, in Spark's SQL; some have fewer days,
-- channels or parameters than the specification has. Columns without a name of their own have got one.
-- Source: TPC Benchmark DS, Standard Specification, appendix B, https://www.tpc.org/tpcds/
-- q1
WITH customer_total_return AS (
  SELECT sr_customer_sk AS ctr_customer_sk, sr_store_sk AS ctr_store_sk, sum(sr_return_amt) AS ctr_total_return
  FROM store_returns, date_dim WHERE sr_returned_date_sk = d_date_sk AND d_year = 2000
  GROUP BY sr_customer_sk, sr_store_sk)
SELECT c_customer_id FROM customer_total_return ctr1, store, customer
WHERE ctr1.ctr_total_return > (SELECT avg(ctr_total_return) * 1.2 FROM customer_total_return ctr2
    WHERE ctr1.ctr_store_sk = ctr2.ctr_store_sk)
  AND s_store_sk = ctr1.ctr_store_sk AND s_state = 'TN' AND ctr1.ctr_customer_sk = c_customer_sk
ORDER BY c_customer_id LIMIT 100;
-- q2
WITH wscs AS (
  SELECT sold_date_sk, sales_price FROM (
    SELECT ws_sold_date_sk AS sold_date_sk, ws_ext_sales_price AS sales_price FROM web_sales
    UNION ALL
    SELECT cs_sold_date_sk AS sold_date_sk, cs_ext_sales_price AS sales_price FROM catalog_sales) AS x),
wswscs AS (
  SELECT d_week_seq,
    sum(CASE WHEN d_day_name = 'Sunday' THEN sales_price ELSE NULL END) AS sun_sales,
    sum(CASE WHEN d_day_name = 'Monday' THEN sales_price ELSE NULL END) AS mon_sales,
    sum(CASE WHEN d_day_name = 'Saturday' THEN sales_price ELSE NULL END) AS sat_sales
  FROM wscs, date_dim WHERE d_date_sk = sold_date_sk GROUP BY d_week_seq)
SELECT d_week_seq1, round(sun_sales1 / sun_sales2, 2) AS sun, round(mon_sales1 / mon_sales2, 2) AS mon,
  round(sat_sales1 / sat_sales2, 2) AS sat
FROM (SELECT wswscs.d_week_seq AS d_week_seq1, sun_sales AS sun_sales1, mon_sales AS mon_sales1, sat_sales AS sat_sales1
    FROM wswscs, date_dim WHERE date_dim.d_week_seq = wswscs.d_week_seq AND d_year = 2001) AS y,
  (SELECT wswscs.d_week_seq AS d_week_seq2, sun_sales AS sun_sales2, mon_sales AS mon_sales2, sat_sales AS sat_sales2
    FROM wswscs, date_dim WHERE date_dim.d_week_seq = wswscs.d_week_seq AND d_year = 2002) AS z
WHERE d_week_seq1 = d_week_seq2 - 53 ORDER BY d_week_seq1;
-- q5
WITH ssr AS (
  SELECT s_store_id, sum(sales_price) AS sales, sum(profit) AS profit, sum(return_amt) AS returns,
    sum(net_loss) AS profit_loss
  FROM (SELECT ss_store_sk AS store_sk, ss_sold_date_sk AS date_sk, ss_ext_sales_price AS sales_price,
      ss_net_profit AS profit, CAST(0 AS DECIMAL(7, 2)) AS return_amt, CAST(0 AS DECIMAL(7, 2)) AS net_loss
    FROM store_sales
    UNION ALL
    SELECT sr_store_sk AS store_sk, sr_returned_date_sk AS date_sk, CAST(0 AS DECIMAL(7, 2)) AS sales_price,
      CAST(0 AS DECIMAL(7, 2)) AS profit, sr_return_amt AS return_amt, sr_net_loss AS net_loss
    FROM store_returns) AS salesreturns, date_dim, store
  WHERE date_sk = d_date_sk AND d_date BETWEEN date '2000-08-23' AND date '2000-09-06' AND store_sk = s_store_sk
  GROUP BY s_store_id),
wsr AS (
  SELECT web_site_id, sum(sales_price) AS sales, sum(profit) AS profit, sum(return_amt) AS returns,
    sum(net_loss) AS profit_loss
  FROM (SELECT ws_web_site_sk AS wsr_web_site_sk, ws_sold_date_sk AS date_sk, ws_ext_sales_price AS sales_price,
      ws_net_profit AS profit, CAST(0 AS DECIMAL(7, 2)) AS return_amt, CAST(0 AS DECIMAL(7, 2)) AS net_loss
    FROM web_sales
    UNION ALL
    SELECT ws_web_site_sk AS wsr_web_site_sk, wr_returned_date_sk AS date_sk, CAST(0 AS DECIMAL(7, 2)) AS sales_price,
      CAST(0 AS DECIMAL(7, 2)) AS profit, wr_return_amt AS return_amt, wr_net_loss AS net_loss
    FROM web_returns LEFT OUTER JOIN web_sales
      ON (wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number)) AS salesreturns, date_dim, web_site
  WHERE date_sk = d_date_sk AND d_date BETWEEN date '2000-08-23' AND date '2000-09-06'
    AND wsr_web_site_sk = web_site_sk
  GROUP BY web_site_id)
SELECT channel, id, sum(sales) AS sales, sum(returns) AS returns, sum(profit) AS profit
FROM (SELECT 'store channel' AS channel, concat('store', s_store_id) AS id, sales, returns, profit - profit_loss AS profit
    FROM ssr
    UNION ALL
    SELECT 'web channel' AS channel, concat('web_site', web_site_id) AS id, sales, returns, profit - profit_loss AS profit
    FROM wsr) AS x
GROUP BY ROLLUP (channel, id) ORDER BY channel, id LIMIT 100;
-- q11
WITH year_total AS (
  SELECT c_customer_id AS customer_id, c_first_name AS customer_first_name, c_last_name AS customer_last_name,
    c_email_address AS customer_email_address, d_year AS dyear,
    sum(ss_ext_list_price - ss_ext_discount_amt) AS year_total, 's' AS sale_type
  FROM customer, store_sales, date_dim WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk
  GROUP BY c_customer_id, c_first_name, c_last_name, d_year, c_email_address
  UNION ALL
  SELECT c_customer_id AS customer_id, c_first_name AS customer_first_name, c_last_name AS customer_last_name,
    c_email_address AS customer_email_address, d_year AS dyear,
    sum(ws_ext_list_price - ws_ext_discount_amt) AS year_total, 'w' AS sale_type
  FROM customer, web_sales, date_dim WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk
  GROUP BY c_customer_id, c_first_name, c_last_name, c_email_address, d_year)
SELECT t_s_secyear.customer_id, t_s_secyear.customer_first_name, t_s_secyear.customer_last_name,
  t_s_secyear.customer_email_address
FROM year_total t_s_firstyear, year_total t_s_secyear, year_total t_w_firstyear, year_total t_w_secyear
WHERE t_s_secyear.customer_id = t_s_firstyear.customer_id AND t_s_firstyear.customer_id = t_w_secyear.customer_id
  AND t_s_firstyear.customer_id = t_w_firstyear.customer_id AND t_s_firstyear.sale_type = 's'
  AND t_w_firstyear.sale_type = 'w' AND t_s_secyear.sale_type = 's' AND t_w_secyear.sale_type = 'w'
  AND t_s_firstyear.dyear = 2001 AND t_s_secyear.dyear = 2002 AND t_w_firstyear.dyear = 2001
  AND t_w_secyear.dyear = 2002 AND t_s_firstyear.year_total > 0 AND t_w_firstyear.year_total > 0
ORDER BY t_s_secyear.customer_id LIMIT 100;
-- q12
SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, sum(ws_ext_sales_price) AS itemrevenue,
  sum(ws_ext_sales_price) * 100 / sum(sum(ws_ext_sales_price)) OVER (PARTITION BY i_class) AS revenueratio
FROM web_sales, item, date_dim
WHERE ws_item_sk = i_item_sk AND i_category IN ('Sports', 'Books', 'Home') AND ws_sold_date_sk = d_date_sk
  AND d_date BETWEEN date '1999-02-22' AND date '1999-03-24'
GROUP BY i_item_id, i_item_desc, i_category, i_class, i_current_price
ORDER BY i_category, i_class, i_item_id LIMIT 100;
-- q31
WITH ss AS (
  SELECT ca_county, d_qoy, d_year, sum(ss_ext_sales_price) AS store_sales FROM store_sales, date_dim, customer_address
  WHERE ss_sold_date_sk = d_date_sk AND ss_addr_sk = ca_address_sk GROUP BY ca_county, d_qoy, d_year),
ws AS (
  SELECT ca_county, d_qoy, d_year, sum(ws_ext_sales_price) AS web_sales FROM web_sales, date_dim, customer_address
  WHERE ws_sold_date_sk = d_date_sk AND ws_bill_addr_sk = ca_address_sk GROUP BY ca_county, d_qoy, d_year)
SELECT ss1.ca_county, ss1.d_year, ws2.web_sales / ws1.web_sales AS web_q1_q2_increase,
  ss2.store_sales / ss1.store_sales AS store_q1_q2_increase
FROM ss ss1, ss ss2, ws ws1, ws ws2
WHERE ss1.d_qoy = 1 AND ss1.d_year = 2000 AND ss1.ca_county = ss2.ca_county AND ss2.d_qoy = 2 AND ss2.d_year = 2000
  AND ss1.ca_county = ws1.ca_county AND ws1.d_qoy = 1 AND ws1.d_year = 2000 AND ws1.ca_county = ws2.ca_county
  AND ws2.d_qoy = 2 AND ws2.d_year = 2000
  AND CASE WHEN ws1.web_sales > 0 THEN ws2.web_sales / ws1.web_sales ELSE NULL END
    > CASE WHEN ss1.store_sales > 0 THEN ss2.store_sales / ss1.store_sales ELSE NULL END
ORDER BY ss1.ca_county;
-- q33
WITH ss AS (
  SELECT i_manufact_id, sum(ss_ext_sales_price) AS total_sales FROM store_sales, date_dim, customer_address, item
  WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Electronics'))
    AND ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND d_year = 1998 AND d_moy = 5
    AND ss_addr_sk = ca_address_sk AND ca_gmt_offset = -5 GROUP BY i_manufact_id),
cs AS (
  SELECT i_manufact_id, sum(cs_ext_sales_price) AS total_sales FROM catalog_sales, date_dim, customer_address, item
  WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Electronics'))
    AND cs_item_sk = i_item_sk AND cs_sold_date_sk = d_date_sk AND d_year = 1998 AND d_moy = 5
    AND cs_bill_addr_sk = ca_address_sk AND ca_gmt_offset = -5 GROUP BY i_manufact_id),
ws AS (
  SELECT i_manufact_id, sum(ws_ext_sales_price) AS total_sales FROM web_sales, date_dim, customer_address, item
  WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Electronics'))
    AND ws_item_sk = i_item_sk AND ws_sold_date_sk = d_date_sk AND d_year = 1998 AND d_moy = 5
    AND ws_bill_addr_sk = ca_address_sk AND ca_gmt_offset = -5 GROUP BY i_manufact_id)
SELECT i_manufact_id, sum(total_sales) AS total_sales
FROM (SELECT * FROM ss UNION ALL SELECT * FROM cs UNION ALL SELECT * FROM ws) AS tmp1
GROUP BY i_manufact_id ORDER BY total_sales LIMIT 100;
-- q36
SELECT sum(ss_net_profit) / sum(ss_ext_sales_price) AS gross_margin, i_category, i_class,
  grouping(i_category) + grouping(i_class) AS lochierarchy,
  rank() OVER (PARTITION BY grouping(i_category) + grouping(i_class),
    CASE WHEN grouping(i_class) = 0 THEN i_category END
    ORDER BY sum(ss_net_profit) / sum(ss_ext_sales_price) ASC) AS rank_within_parent
FROM store_sales, date_dim d1, item, store
WHERE d1.d_year = 2001 AND d1.d_date_sk = ss_sold_date_sk AND i_item_sk = ss_item_sk AND s_store_sk = ss_store_sk
  AND s_state IN ('TN')
GROUP BY ROLLUP (i_category, i_class) ORDER BY lochierarchy DESC, i_category, rank_within_parent LIMIT 100;
-- q38
SELECT count(*) AS cnt FROM (
  SELECT DISTINCT c_last_name, c_first_name, d_date FROM store_sales, date_dim, customer
  WHERE ss_sold_date_sk = d_date_sk AND ss_customer_sk = c_customer_sk AND d_month_seq BETWEEN 1200 AND 1211
  INTERSECT
  SELECT DISTINCT c_last_name, c_first_name, d_date FROM catalog_sales, date_dim, customer
  WHERE cs_sold_date_sk = d_date_sk AND cs_bill_customer_sk = c_customer_sk AND d_month_seq BETWEEN 1200 AND 1211
  INTERSECT
  SELECT DISTINCT c_last_name, c_first_name, d_date FROM web_sales, date_dim, customer
  WHERE ws_sold_date_sk = d_date_sk AND ws_bill_customer_sk = c_customer_sk AND d_month_seq BETWEEN 1200 AND 1211
) AS hot_cust LIMIT 100;
-- q44
SELECT asceding.rnk, i1.i_product_name AS best_performing, i2.i_product_name AS worst_performing
FROM (SELECT * FROM (SELECT item_sk, rank() OVER (ORDER BY rank_col ASC) AS rnk
    FROM (SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS rank_col FROM store_sales ss1 WHERE ss_store_sk = 4
      GROUP BY ss_item_sk
      HAVING avg(ss_net_profit) > 0.9 * (SELECT avg(ss_net_profit) AS rank_col FROM store_sales
        WHERE ss_store_sk = 4 AND ss_addr_sk IS NULL GROUP BY ss_store_sk)) AS v1) AS v11 WHERE rnk < 11) AS asceding,
  (SELECT * FROM (SELECT item_sk, rank() OVER (ORDER BY rank_col DESC) AS rnk
    FROM (SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS rank_col FROM store_sales ss1 WHERE ss_store_sk = 4
      GROUP BY ss_item_sk
      HAVING avg(ss_net_profit) > 0.9 * (SELECT avg(ss_net_profit) AS rank_col FROM store_sales
        WHERE ss_store_sk = 4 AND ss_addr_sk IS NULL GROUP BY ss_store_sk)) AS v2) AS v21 WHERE rnk < 11) AS descending,
  item i1, item i2
WHERE asceding.rnk = descending.rnk AND i1.i_item_sk = asceding.item_sk AND i2.i_item_sk = descending.item_sk
ORDER BY asceding.rnk LIMIT 100;
-- q47
WITH v1 AS (
  SELECT i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, sum(ss_sales_price) AS sum_sales,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, i_brand, s_store_name, s_company_name, d_year)
      AS avg_monthly_sales,
    rank() OVER (PARTITION BY i_category, i_brand, s_store_name, s_company_name ORDER BY d_year, d_moy) AS rn
  FROM item, store_sales, date_dim, store
  WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND d_year = 1999
  GROUP BY i_category, i_brand, s_store_name, s_company_name, d_year, d_moy),
v2 AS (
  SELECT v1.i_category, v1.d_year, v1.d_moy, v1.avg_monthly_sales, v1.sum_sales, v1_lag.sum_sales AS psum,
    v1_lead.sum_sales AS nsum
  FROM v1, v1 v1_lag, v1 v1_lead
  WHERE v1.i_category = v1_lag.i_category AND v1.i_category = v1_lead.i_category AND v1.i_brand = v1_lag.i_brand
    AND v1.i_brand = v1_lead.i_brand AND v1.rn = v1_lag.rn + 1 AND v1.rn = v1_lead.rn - 1)
SELECT * FROM v2
WHERE d_year = 1999 AND avg_monthly_sales > 0
  AND CASE WHEN avg_monthly_sales > 0 THEN abs(sum_sales - avg_monthly_sales) / avg_monthly_sales ELSE NULL END > 0.1
ORDER BY sum_sales - avg_monthly_sales, d_moy LIMIT 100;
-- q49
SELECT channel, item, return_ratio, return_rank, currency_rank
FROM (SELECT 'web' AS channel, web.item, web.return_ratio, web.return_rank, web.currency_rank
    FROM (SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
      FROM (SELECT ws.ws_item_sk AS item,
          CAST(sum(coalesce(wr.wr_return_quantity, 0)) AS DECIMAL(15, 4))
            / CAST(sum(coalesce(ws.ws_quantity, 0)) AS DECIMAL(15, 4)) AS return_ratio,
          CAST(sum(coalesce(wr.wr_return_amt, 0)) AS DECIMAL(15, 4))
            / CAST(sum(coalesce(ws.ws_net_paid, 0)) AS DECIMAL(15, 4)) AS currency_ratio
        FROM web_sales ws LEFT OUTER JOIN web_returns wr
          ON (ws.ws_order_number = wr.wr_order_number AND ws.ws_item_sk = wr.wr_item_sk), date_dim
        WHERE wr.wr_return_amt > 10000 AND ws.ws_net_profit > 1 AND ws_sold_date_sk = d_date_sk AND d_year = 2001
        GROUP BY ws.ws_item_sk) AS in_web) AS web
    WHERE web.return_rank <= 10 OR web.currency_rank <= 10
    UNION
    SELECT 'store' AS channel, store.item, store.return_ratio, store.return_rank, store.currency_rank
    FROM (SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
      FROM (SELECT sts.ss_item_sk AS item,
          CAST(sum(coalesce(sr.sr_return_quantity, 0)) AS DECIMAL(15, 4))
            / CAST(sum(coalesce(sts.ss_quantity, 0)) AS DECIMAL(15, 4)) AS return_ratio,
          CAST(sum(coalesce(sr.sr_return_amt, 0)) AS DECIMAL(15, 4))
            / CAST(sum(coalesce(sts.ss_net_paid, 0)) AS DECIMAL(15, 4)) AS currency_ratio
        FROM store_sales sts LEFT OUTER JOIN store_returns sr
          ON (sts.ss_ticket_number = sr.sr_ticket_number AND sts.ss_item_sk = sr.sr_item_sk), date_dim
        WHERE sr.sr_return_amt > 10000 AND sts.ss_net_profit > 1 AND ss_sold_date_sk = d_date_sk AND d_year = 2001
        GROUP BY sts.ss_item_sk) AS in_store) AS store
    WHERE store.return_rank <= 10 OR store.currency_rank <= 10) AS tmp
ORDER BY 1, 4, 5, 2 LIMIT 100;
-- q51
WITH web_v1 AS (
  SELECT ws_item_sk AS item_sk, d_date, sum(sum(ws_sales_price)) OVER (PARTITION BY ws_item_sk ORDER BY d_date
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cume_sales
  FROM web_sales, date_dim
  WHERE ws_sold_date_sk = d_date_sk AND d_month_seq BETWEEN 1200 AND 1211 AND ws_item_sk IS NOT NULL
  GROUP BY ws_item_sk, d_date),
store_v1 AS (
  SELECT ss_item_sk AS item_sk, d_date, sum(sum(ss_sales_price)) OVER (PARTITION BY ss_item_sk ORDER BY d_date
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cume_sales
  FROM store_sales, date_dim
  WHERE ss_sold_date_sk = d_date_sk AND d_month_seq BETWEEN 1200 AND 1211 AND ss_item_sk IS NOT NULL
  GROUP BY ss_item_sk, d_date)
SELECT * FROM (
  SELECT item_sk, d_date, web_sales, store_sales,
    max(web_sales) OVER (PARTITION BY item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS web_cumulative,
    max(store_sales) OVER (PARTITION BY item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS store_cumulative
  FROM (SELECT CASE WHEN web.item_sk IS NOT NULL THEN web.item_sk ELSE store.item_sk END AS item_sk,
      CASE WHEN web.d_date IS NOT NULL THEN web.d_date ELSE store.d_date END AS d_date,
      web.cume_sales AS web_sales, store.cume_sales AS store_sales
    FROM web_v1 web FULL OUTER JOIN store_v1 store ON (web.item_sk = store.item_sk AND web.d_date = store.d_date)
  ) AS x) AS y
WHERE web_cumulative > store_cumulative ORDER BY item_sk, d_date LIMIT 100;
-- q53
SELECT * FROM (
  SELECT i_manufact_id, sum(ss_sales_price) AS sum_sales,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_manufact_id) AS avg_quarterly_sales
  FROM item, store_sales, date_dim, store
  WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk
    AND d_month_seq IN (1200, 1201, 1202, 1203) AND i_category IN ('Books', 'Children', 'Electronics')
  GROUP BY i_manufact_id, d_qoy) AS tmp1
WHERE CASE WHEN avg_quarterly_sales > 0 THEN abs(sum_sales - avg_quarterly_sales) / avg_quarterly_sales
  ELSE NULL END > 0.1
ORDER BY avg_quarterly_sales, sum_sales, i_manufact_id LIMIT 100;
-- q67
SELECT * FROM (
  SELECT i_category, i_class, i_brand, d_year, d_qoy, s_store_id, sumsales,
    rank() OVER (PARTITION BY i_category ORDER BY sumsales DESC) AS rk
  FROM (SELECT i_category, i_class, i_brand, d_year, d_qoy, s_store_id,
      sum(coalesce(ss_sales_price * ss_quantity, 0)) AS sumsales
    FROM store_sales, date_dim, store, item
    WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk
      AND d_month_seq BETWEEN 1200 AND 1211
    GROUP BY ROLLUP (i_category, i_class, i_brand, d_year, d_qoy, s_store_id)) AS dw1) AS dw2
WHERE rk <= 100 ORDER BY i_category, i_class, i_brand, d_year, d_qoy, s_store_id, sumsales, rk LIMIT 100;
-- q71
SELECT i_brand_id AS brand_id, i_brand AS brand, t_hour, t_minute, sum(ext_price) AS ext_price
FROM item, (SELECT ws_ext_sales_price AS ext_price, ws_sold_date_sk AS sold_date_sk, ws_item_sk AS sold_item_sk,
      ws_sold_time_sk AS time_sk
    FROM web_sales, date_dim WHERE d_date_sk = ws_sold_date_sk AND d_moy = 11 AND d_year = 1999
    UNION ALL
    SELECT cs_ext_sales_price AS ext_price, cs_sold_date_sk AS sold_date_sk, cs_item_sk AS sold_item_sk,
      cs_sold_time_sk AS time_sk
    FROM catalog_sales, date_dim WHERE d_date_sk = cs_sold_date_sk AND d_moy = 11 AND d_year = 1999
    UNION ALL
    SELECT ss_ext_sales_price AS ext_price, ss_sold_date_sk AS sold_date_sk, ss_item_sk AS sold_item_sk,
      ss_sold_time_sk AS time_sk
    FROM store_sales, date_dim WHERE d_date_sk = ss_sold_date_sk AND d_moy = 11 AND d_year = 1999) AS tmp, time_dim
WHERE sold_item_sk = i_item_sk AND i_manager_id = 1 AND time_sk = t_time_sk
  AND (t_meal_time = 'breakfast' OR t_meal_time = 'dinner')
GROUP BY i_brand, i_brand_id, t_hour, t_minute ORDER BY ext_price DESC, i_brand_id;
-- q75
WITH all_sales AS (
  SELECT d_year, i_brand_id, i_class_id, sum(sales_cnt) AS sales_cnt, sum(sales_amt) AS sales_amt
  FROM (SELECT d_year, i_brand_id, i_class_id, cs_quantity - coalesce(cr_return_quantity, 0) AS sales_cnt,
        cs_ext_sales_price - coalesce(cr_return_amount, 0.0) AS sales_amt
      FROM catalog_sales JOIN item ON i_item_sk = cs_item_sk JOIN date_dim ON d_date_sk = cs_sold_date_sk
        LEFT JOIN catalog_returns ON (cs_order_number = cr_order_number AND cs_item_sk = cr_item_sk)
      WHERE i_category = 'Books'
      UNION
      SELECT d_year, i_brand_id, i_class_id, ss_quantity - coalesce(sr_return_quantity, 0) AS sales_cnt,
        ss_ext_sales_price - coalesce(sr_return_amt, 0.0) AS sales_amt
      FROM store_sales JOIN item ON i_item_sk = ss_item_sk JOIN date_dim ON d_date_sk = ss_sold_date_sk
        LEFT JOIN store_returns ON (ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk)
      WHERE i_category = 'Books') AS sales_detail
  GROUP BY d_year, i_brand_id, i_class_id)
SELECT prev_yr.d_year AS prev_year, curr_yr.d_year AS year, curr_yr.i_brand_id, curr_yr.i_class_id,
  prev_yr.sales_cnt AS prev_yr_cnt, curr_yr.sales_cnt AS curr_yr_cnt,
  curr_yr.sales_cnt - prev_yr.sales_cnt AS sales_cnt_diff, curr_yr.sales_amt - prev_yr.sales_amt AS sales_amt_diff
FROM all_sales curr_yr, all_sales prev_yr
WHERE curr_yr.i_brand_id = prev_yr.i_brand_id AND curr_yr.i_class_id = prev_yr.i_class_id AND curr_yr.d_year = 2002
  AND prev_yr.d_year = 2001 AND CAST(curr_yr.sales_cnt AS DECIMAL(17, 2)) / CAST(prev_yr.sales_cnt AS DECIMAL(17, 2)) < 0.9
ORDER BY sales_cnt_diff, sales_amt_diff LIMIT 100;
-- q76
SELECT channel, col_name, d_year, d_qoy, i_category, count(*) AS sales_cnt, sum(ext_sales_price) AS sales_amt
FROM (SELECT 'store' AS channel, 'ss_store_sk' AS col_name, d_year, d_qoy, i_category,
      ss_ext_sales_price AS ext_sales_price
    FROM store_sales, item, date_dim
    WHERE ss_store_sk IS NULL AND ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk
    UNION ALL
    SELECT 'web' AS channel, 'ws_ship_customer_sk' AS col_name, d_year, d_qoy, i_category,
      ws_ext_sales_price AS ext_sales_price
    FROM web_sales, item, date_dim
    WHERE ws_ship_customer_sk IS NULL AND ws_sold_date_sk = d_date_sk AND ws_item_sk = i_item_sk
    UNION ALL
    SELECT 'catalog' AS channel, 'cs_ship_addr_sk' AS col_name, d_year, d_qoy, i_category,
      cs_ext_sales_price AS ext_sales_price
    FROM catalog_sales, item, date_dim
    WHERE cs_ship_addr_sk IS NULL AND cs_sold_date_sk = d_date_sk AND cs_item_sk = i_item_sk) AS foo
GROUP BY channel, col_name, d_year, d_qoy, i_category ORDER BY channel, col_name, d_year, d_qoy, i_category LIMIT 100;
-- q89
SELECT * FROM (
  SELECT i_category, i_class, i_brand, s_store_name, s_company_name, d_moy, sum(ss_sales_price) AS sum_sales,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, i_brand, s_store_name, s_company_name)
      AS avg_monthly_sales
  FROM item, store_sales, date_dim, store
  WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND d_year IN (1999)
    AND i_category IN ('Books', 'Electronics', 'Sports')
  GROUP BY i_category, i_class, i_brand, s_store_name, s_company_name, d_moy) AS tmp1
WHERE CASE WHEN avg_monthly_sales <> 0 THEN abs(sum_sales - avg_monthly_sales) / avg_monthly_sales ELSE NULL END > 0.1
ORDER BY sum_sales - avg_monthly_sales, s_store_name LIMIT 100;
-- q97
WITH ssci AS (
  SELECT ss_customer_sk AS customer_sk, ss_item_sk AS item_sk FROM store_sales, date_dim
  WHERE ss_sold_date_sk = d_date_sk AND d_month_seq BETWEEN 1200 AND 1211 GROUP BY ss_customer_sk, ss_item_sk),
csci AS (
  SELECT cs_bill_customer_sk AS customer_sk, cs_item_sk AS item_sk FROM catalog_sales, date_dim
  WHERE cs_sold_date_sk = d_date_sk AND d_month_seq BETWEEN 1200 AND 1211 GROUP BY cs_bill_customer_sk, cs_item_sk)
SELECT sum(CASE WHEN ssci.customer_sk IS NOT NULL AND csci.customer_sk IS NULL THEN 1 ELSE 0 END) AS store_only,
  sum(CASE WHEN ssci.customer_sk IS NULL AND csci.customer_sk IS NOT NULL THEN 1 ELSE 0 END) AS catalog_only,
  sum(CASE WHEN ssci.customer_sk IS NOT NULL AND csci.customer_sk IS NOT NULL THEN 1 ELSE 0 END) AS store_and_catalog
FROM ssci FULL OUTER JOIN csci ON (ssci.customer_sk = csci.customer_sk AND ssci.item_sk = csci.item_sk) LIMIT 100;
