// R x C cells, each connected to its neighbours. From outside, only the edges are seen: operands and
// control bits enter in the west, operands or weights in the north, results leave in the south.
module array #(
    parameter R = 4, C = 4, OUTPUTS_STAY = 1, SECOND = 0
) (
    input clk,
    input [32*R-1:0] west,
    input [4*R-1:0] west_control,
    input [32*C-1:0] north, north_chain,
    output [32*C-1:0] south, south_chain,
    output [4*C-1:0] south_control
);
    genvar i, j;
    generate
        for (i = 0; i < R; i = i + 1) begin : row
            for (j = 0; j < C; j = j + 1) begin : col
                wire signed [31:0] right_in, down_in, chain_in, right, down, chain;
                wire [3:0] control_in, control;
                if (j == 0) begin
                    assign right_in = west[32*i +: 32];
                    assign control_in = west_control[4*i +: 4];
                end else begin
                    assign right_in = row[i].col[j-1].right;
                    assign control_in = row[i].col[j-1].control;
                end
                if (i == 0) begin
                    assign down_in = north[32*j +: 32];
                    assign chain_in = north_chain[32*j +: 32];
                end else begin
                    assign down_in = row[i-1].col[j].down;
                    assign chain_in = row[i-1].col[j].chain;
                end
                if (OUTPUTS_STAY) begin : pe
                    pe_os #(SECOND) is(clk, right_in, down_in, chain_in, control_in,
                                       right, down, chain, control);
                end else begin : pe
                    pe_ws #(SECOND) is(clk, right_in, down_in, chain_in, control_in,
                                       right, down, chain, control);
                end
            end
        end
        for (j = 0; j < C; j = j + 1) begin
            assign south[32*j +: 32] = row[R-1].col[j].down;
            assign south_control[4*j +: 4] = row[R-1].col[j].control;
            assign south_chain[32*j +: 32] = row[R-1].col[j].chain;
        end
    endgenerate
endmodule
